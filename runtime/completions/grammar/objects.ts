import { type GrammarRules, literal, oneOf } from './rules.js';

/** One declared property, its value as an expression. */
export interface PropertyRule {
  name: string;
  required: boolean;
  value: string;
}

/** Members that are not declared: an expression of key, colon and value, and how many there may be where nothing is declared. */
interface OtherMembers {
  member: string;
  min: number;
  max: number;
}

/** An object's members: declared ones in order, then any number of others where `other` is given. */
interface ObjectShape {
  properties: PropertyRule[];
  other?: OtherMembers | undefined;
  /** Members may come in any order, where there are few and no others. */
  anyOrder?: boolean;
}

/** Most properties that may come in any order; each set of them that is left makes a rule. */
const MAX_FREE = 4;

/** What may follow a member, for each set of properties that are still to come (one bit each). */
function leftOver(
  properties: readonly PropertyRule[],
  members: readonly string[],
  rules: GrammarRules,
  hint: string,
): (open: number) => string {
  const known = new Map<number, string>([[0, '']]);
  const after = (open: number): string => {
    const found = known.get(open);
    if (found !== undefined) return found;
    const nexts = members.flatMap((member, at) => (open & (1 << at) ? [`"," ws ${member} ${after(open & ~(1 << at))}`] : []));
    const mayEnd = properties.every(({ required }, at) => !required || !(open & (1 << at)));
    const rule = rules.add(`${hint}-rest`, mayEnd ? `( ${oneOf(nexts)} )?` : oneOf(nexts));
    known.set(open, rule);
    return rule;
  };
  return after;
}

function inAnyOrder(properties: readonly PropertyRule[], members: readonly string[], rules: GrammarRules, hint: string): string {
  const after = leftOver(properties, members, rules, hint);
  const all = (1 << members.length) - 1;
  const inside = `${oneOf(members.map((member, at) => `${member} ${after(all & ~(1 << at))}`))} ws`;
  return properties.some(({ required }) => required) ? `"{" ws ${inside} "}"` : `"{" ws ( ${inside} )? "}"`;
}

/** Members of which nothing is declared, as a map's. */
function onlyOthers({ member, min, max }: OtherMembers, rules: GrammarRules): string {
  if (max === 0) return '"{" ws "}"';
  const more = rules.repetition(`( "," ws ${member} )`, Math.max(0, min - 1), max - 1);
  return min > 0 ? `"{" ws ${member} ${more} ws "}"` : `"{" ws ( ${member} ${more} ws )? "}"`;
}

/** A JSON object with its members in the order of the schema, or in any; optional ones may be left out. */
export function objectExpression(shape: ObjectShape, rules: GrammarRules, hint: string): string {
  rules.base('ws');
  const { properties, other } = shape;
  if (properties.length === 0) return other ? onlyOthers(other, rules) : '"{" ws "}"';
  const members = properties.map((property) =>
    rules.add(`${hint}-${property.name}`, `${literal(`${JSON.stringify(property.name)}:`)} ws ${property.value}`),
  );
  if (shape.anyOrder && !other && members.length > 1 && members.length <= MAX_FREE) return inAnyOrder(properties, members, rules, hint);
  // after[i] = what may follow once a member stands before property i.
  const after: string[] = [];
  let rest = other ? `( "," ws ${other.member} )*` : '';
  for (let i = properties.length - 1; i >= 0; i -= 1) {
    after[i + 1] = rest === '' ? '' : rules.add(`${hint}-rest`, rest);
    const own = properties[i]?.required ? `"," ws ${members[i]}` : `( "," ws ${members[i]} )?`;
    rest = [own, after[i + 1]].filter((part) => part !== '').join(' ');
  }
  const firsts: string[] = [];
  let optional = true;
  for (let i = 0; i < properties.length && optional; i += 1) {
    firsts.push([members[i], after[i + 1]].filter((part) => part !== '').join(' '));
    optional = !properties[i]?.required;
  }
  if (optional && other) firsts.push(`${other.member} ( "," ws ${other.member} )*`);
  const inside = `${oneOf(firsts)} ws`;
  return optional ? `"{" ws ( ${inside} )? "}"` : `"{" ws ${inside} "}"`;
}
