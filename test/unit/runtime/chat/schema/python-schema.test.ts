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
        colour: { anyOf: [{ $ref: '#/$defs/Colour' }, { type: 'null' }], default: null },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 3, default: [] },
        kind: { enum: ['new', 'used', -1, true] },
        next: { anyOf: [{ $ref: '#/$defs/Offer' }, { type: 'null' }], default: null },
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

  it('hold classes inside classes, names for types, constants and what Python fills in', () => {
    const file = `from enum import IntEnum, StrEnum, auto
MOST = 5
Score = Annotated[float, Field(ge=0, le=1)]
logger = logging.getLogger(__name__)

class Kind(StrEnum):
    """What it is.
       In two lines."""
    Good = auto()
    BAD = "bad"

class Level(IntEnum):
    LOW = auto()
    HIGH = auto()

class Report(BaseModel, extra="forbid"):
    class Config:
        frozen = True
    class Line(BaseModel):
        text: constr(min_length=1, max_length=MOST)
        score: Score = 0.5
    lines: "list[Line]" = Field(min_length=1, max_length=MOST, repr=False)
    kind: Kind = Kind.BAD
    fixed: Literal[Kind.Good] = Field(default=Kind.Good)
    pair: tuple[int, str] | None = None
    many: Tuple[int, ...] = Field(default_factory=lambda: [1])
    counts: conlist(PositiveInt, min_length=1)
    made: datetime = Field(default_factory=datetime.now)

class Words(RootModel[list[str]]):
    """Only words."""
`;
    const { $defs } = pythonSchema(file, 'Report') as { $defs: Record<string, Loose> };
    assert.deepEqual($defs.Kind, { enum: ['good', 'bad'], description: 'What it is.\nIn two lines.' });
    assert.deepEqual($defs.Level, { enum: [1, 2] });
    assert.deepEqual($defs.Line.properties, {
      text: { type: 'string', minLength: 1, maxLength: 5 },
      score: { $ref: '#/$defs/Score', default: 0.5 },
    });
    assert.deepEqual($defs.Score, { type: 'number', minimum: 0, maximum: 1 });
    assert.deepEqual($defs.Report.properties, {
      lines: { type: 'array', items: { $ref: '#/$defs/Line' }, minItems: 1, maxItems: 5 },
      kind: { $ref: '#/$defs/Kind', default: 'bad' },
      fixed: { enum: ['good'], default: 'good' },
      pair: {
        anyOf: [{ type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], minItems: 2, maxItems: 2 }, { type: 'null' }],
        default: null,
      },
      many: { type: 'array', items: { type: 'integer' }, default: [1] },
      counts: { type: 'array', items: { type: 'integer', exclusiveMinimum: 0 }, minItems: 1 },
      made: { type: 'string', format: 'date-time' },
    });
    assert.deepEqual($defs.Report.required, ['lines', 'counts']);
    const words = pythonSchema(file, 'Words') as { $defs: Record<string, Loose> };
    assert.deepEqual(words.$defs.Words, { type: 'array', items: { type: 'string' }, description: 'Only words.' });
  });

  it('keep the size of names for types that double', () => {
    const doubling = Array.from({ length: 60 }, (_, at) => `T${at + 1} = tuple[T${at}, T${at}]\n`).join('');
    assert.ok(JSON.stringify(pythonSchema(`T0 = int\n${doubling}${MODEL}    x: T60\n`, 'A')).length < 20_000);
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
