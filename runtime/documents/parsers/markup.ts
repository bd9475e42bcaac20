import { Parser } from 'htmlparser2';
import { Failure } from '../../../schemas/errors.js';
import { decodeText } from './bytes.js';
import { xmlEncoding } from './encodings/declared.js';
import { EquationBuilder, isEquation } from './equations.js';

/** The parser takes time in proportion to the depth for every element; pages made by people stay far below. */
const DEPTH_LIMIT = 1000;

/** What happens while markup is read, in order. Names are lower case for HTML and as written, with their prefix, for XML. */
export interface MarkupEvents {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
  /** An equation on one line, instead of its elements; goes to `text` where it is not told. */
  equation?(text: string): void;
}

/** Reads HTML or XML as a stream: any damage, no entities but the predefined, nothing fetched. Throws `Failure('invalid')` beyond a depth of 1,000. */
export function readMarkup(source: string, events: MarkupEvents, xml = false): void {
  let depth = 0;
  let equation: EquationBuilder | undefined;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        depth += 1;
        if (depth > DEPTH_LIMIT) throw new Failure('invalid', `Its elements are nested deeper than ${DEPTH_LIMIT}.`, { code: 'too_deep' });
        if (equation) equation.open(name, attributes);
        else if (isEquation(name)) equation = new EquationBuilder(name, attributes);
        else events.open?.(name, attributes);
      },
      ontext: (text) => {
        if (equation) equation.text(text);
        else events.text?.(text);
      },
      onclosetag: (name) => {
        depth -= 1;
        if (!equation) return events.close?.(name);
        const line = equation.close();
        if (line === undefined) return;
        equation = undefined;
        if (events.equation) events.equation(line);
        else events.text?.(line);
      },
    },
    { xmlMode: xml, decodeEntities: true, recognizeCDATA: xml },
  );
  parser.end(source);
}

/** Reads a part of an archive as XML, in the encoding that it names; a missing part has no events. */
export function readXml(part: Uint8Array | undefined, events: MarkupEvents): void {
  if (part) readMarkup(decodeText(part, { declared: xmlEncoding(part) }).text, events, true);
}

/** The text of each element with one of the names, joined over its descendants; outermost elements only. */
export function textsOf(part: Uint8Array | undefined, names: readonly string[]): { name: string; text: string }[] {
  const found: { name: string; text: string }[] = [];
  let inside: string | undefined;
  let depth = 0;
  let text = '';
  readXml(part, {
    open: (name) => {
      if (inside === undefined && names.includes(name)) {
        inside = name;
        text = '';
        depth = 0;
      } else if (name === inside) depth += 1;
    },
    text: (piece) => {
      if (inside !== undefined) text += piece;
    },
    close: (name) => {
      if (name !== inside) return;
      if (depth > 0) depth -= 1;
      else {
        found.push({ name, text: text.trim() });
        inside = undefined;
      }
    },
  });
  return found;
}
