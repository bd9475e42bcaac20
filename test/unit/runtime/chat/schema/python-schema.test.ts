import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pythonSchema } from '../../../../../runtime/chat/schema/python-schema.js';

const FILE = `"""What a shop answers."""
from __future__ import annotations
from enum import Enum
from typing import (
    List, Literal, Optional,
)
import pydantic
from pydantic import BaseModel, Field


class Colour(str, Enum):
    RED = "red"
    BLUE = 'bl\\u0075e'  # the sky

class Thing(pydantic.BaseModel):
    """A thing."""

    name: str = Field(..., min_length=1, description="its "
                      "name")
    price: float = Field(gt=0, le=1_000.5)

# Comes with more.
class Offer(Thing):
	model_config = {"extra": "forbid"}
	colour: Optional[Colour] = None
	tags: list[str] = Field(default_factory=list, max_length=3)
	kind: Literal["new", "used", -1, True]
	next: "Offer" | None = None
	parts: dict[str, List[Thing]]
	id: int = Field(alias="offer_id")

class Empty(BaseModel): pass
`;

type Loose = ReturnType<typeof JSON.parse>;

describe('schemas of Python files', () => {
  it('hold the fields, their rules and the classes that they name', () => {
    const { $ref, $defs } = pythonSchema(FILE, 'Offer') as { $ref: string; $defs: Record<string, object> };
    assert.equal($ref, '#/$defs/Offer');
    assert.deepEqual($defs.Colour, { enum: ['red', 'blue'] });
    const thing = {
      name: { type: 'string', minLength: 1, description: 'its name' },
      price: { type: 'number', exclusiveMinimum: 0, maximum: 1000.5 },
    };
    assert.deepEqual($defs.Thing, {
      type: 'object',
      properties: thing,
      required: ['name', 'price'],
      additionalProperties: false,
      description: 'A thing.',
    });
    assert.deepEqual($defs.Offer, {
      type: 'object',
      properties: {
        ...thing,
        colour: { anyOf: [{ $ref: '#/$defs/Colour' }, { type: 'null' }] },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
        kind: { enum: ['new', 'used', -1, true] },
        next: { anyOf: [{ $ref: '#/$defs/Offer' }, { type: 'null' }] },
        parts: { type: 'object', additionalProperties: { type: 'array', items: { $ref: '#/$defs/Thing' } } },
        offer_id: { type: 'integer' },
      },
      required: ['name', 'price', 'kind', 'parts', 'offer_id'],
      additionalProperties: false,
    });
    assert.deepEqual($defs.Empty, { type: 'object', properties: {}, required: [], additionalProperties: false });
  });

  const MODEL = 'class A(BaseModel):\n';

  it('hold limits for each choice that they fit, and the description of the class', () => {
    const fields = '    x: None | int | float | list[str] | B = Field(ge=0, min_length=2)\n    """Of x."""\n    y: "int"\n';
    const { $defs } = pythonSchema(`class B(BaseModel): pass\n${MODEL}    """Of A."""\n${fields}`, 'A') as { $defs: Record<string, Loose> };
    assert.equal($defs.A.description, 'Of A.');
    assert.deepEqual($defs.A.properties, {
      x: {
        anyOf: [
          { type: 'null' },
          { type: 'integer', minimum: 0, minLength: 2 },
          { type: 'number', minimum: 0, minLength: 2 },
          { type: 'array', items: { type: 'string' }, minimum: 0, minItems: 2 },
          { $ref: '#/$defs/B' },
        ],
      },
      y: { type: 'integer' },
    });
  });

  const REFUSED: [name: string, file: string, says: RegExp][] = [
    ['a call', 'import os\nos.system("rm")\n', /^line 2: .*imports and classes only.*"os"/],
    ['a method', `${MODEL}    x: int\n    def f(self): pass\n`, /^line 3: name: type is expected/],
    ['a decorator', '@dataclass\nclass A: pass\n', /^line 1:/],
    ['a class that is no model', 'class A(dict):\n    x: int\n', /^line 1: the class A must derive from BaseModel.*not from dict/],
    ['an unknown type', `${MODEL}    x: Missing\n`, /^line 2: the type Missing/],
    ['an unknown generic', `${MODEL}    x: Foo[int]\n`, /^line 2: the type Foo\[\.\.\.\] is not supported/],
    ['an unknown rule', `${MODEL}    x: int = Field(ge=1, strict=True)\n`, /^line 2: Field\(strict=\.\.\.\)/],
    ['a limit that is not written out', `${MODEL}    x: int = Field(ge=LEAST)\n`, /^line 2: Field\(ge=\.\.\.\)/],
    ['a choice that is not written out', `${MODEL}    x: Literal[Colour.RED]\n`, /^line 2: only Python knows the value of Colour/],
    ['a member that is not written out', 'class B(Enum):\n    X = OTHER\n', /^line 2: only Python knows the value of OTHER/],
    ['another class', `${MODEL}    x: int\n`, /no model class B; it has A/],
    ['an enumeration', 'class B(Enum):\n    X = 1\n', /no model class B; it has none/],
    ['a bad indentation', `${MODEL}    x: int\n  y: int\n`, /^line 3: the indentation/],
    ['a text that does not end', `${MODEL}    x: str = "abc\n`, /^line 2:/],
    ['an f-string', `${MODEL}    x: str = f"a"\n`, /^line 2:/],
    ['too many brackets', `${MODEL}    x: ${'list['.repeat(5_000)}`, /^line 2: more than 64/],
    ['a bracket that does not close', `${MODEL}    x: list[int\n`, /^line \d: /],
  ];
  for (const [name, file, message] of REFUSED) {
    it(`name the line of ${name}`, () => {
      assert.throws(() => pythonSchema(file, 'B'), { kind: 'bad_request', code: 'SchemaNotSupported', message });
    });
  }

  it('are read in time proportional to their length', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `    field_${index}: int = 0\n`).join('');
    assert.equal(Object.keys((pythonSchema(`${MODEL}${many}`, 'A').$defs as { A: { properties: object } }).A.properties).length, 20_000);
    assert.throws(() => pythonSchema(`${'"""'}${'\\"'.repeat(50_000)}`, 'A'), { kind: 'bad_request' });
  });
});
