import { type GrammarRules, literal, oneOf } from './rules.js';

/** One declared property, its value as an expression. */
interface PropertyRule {
  name: string;
  required: boolean;
  value: string;
}

/** An object's members: declared ones in order, then any number of others where `other` is given. */
interface ObjectShape {
  properties: PropertyRule[];
  /** Key and value expressions of additional members. */
  other?: { key: string; value: string } | undefined;
}

/** A JSON object with its members in the order of the schema; optional ones may be left out. */
export function objectExpression(shape: ObjectShape, rules: GrammarRules, hint: string): string {
  rules.base('ws');
  const { properties, other } = shape;
  const members = properties.map((property) =>
    rules.add(`${hint}-${property.name}`, `${literal(`${JSON.stringify(property.name)}:`)} ws ${property.value}`),
  );
  const extra = other && rules.add(`${hint}-other`, `${other.key} ":" ws ${other.value}`);
  // after[i] = what may follow once a member stands before property i.
  const after: string[] = [];
  let rest = extra ? `( "," ws ${extra} )*` : '';
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
  if (optional && extra) firsts.push(`${extra} ( "," ws ${extra} )*`);
  if (firsts.length === 0) return '"{" ws "}"';
  const inside = `${oneOf(firsts)} ws`;
  return optional ? `"{" ws ( ${inside} )? "}"` : `"{" ws ${inside} "}"`;
}
