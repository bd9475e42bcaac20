"""Writes pydantic-types.json: the JSON Schemas that pydantic 2 and the Python helpers of chat clients make of pydantic's types.

Run with Python 3.11 or later, with pydantic, email-validator, openai, instructor, langchain-core and pydantic-ai-slim:
    python test/support/schemas/pydantic-types.py
"""
import datetime
import decimal
import enum
import ipaddress
import json
import pathlib
import re
import uuid
from typing import Annotated, Any, Literal, Mapping, NamedTuple, Optional, Pattern, Sequence, Union

import instructor.function_calls
import pydantic
from langchain_core.utils.function_calling import convert_to_openai_function
from openai.lib._pydantic import to_strict_json_schema
from pydantic import *
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from typing_extensions import NotRequired, TypedDict


class Color(str, enum.Enum):
    RED = 'red'
    BLUE = 'blue'


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Leaf(BaseModel):
    name: str
    n: int = 3


class Tree(BaseModel):
    v: int
    kids: list['Tree'] = []


class Cat(BaseModel):
    kind: Literal['cat']
    lives: int


class Dog(BaseModel):
    kind: Literal['dog']
    good: bool = True


class DefaultCat(BaseModel):
    kind: Literal['cat'] = 'cat'
    lives: int


class DefaultDog(BaseModel):
    kind: Literal['dog'] = 'dog'
    good: bool = True


class Typed(TypedDict):
    a: int
    b: NotRequired[str]


class Named(NamedTuple):
    a: int
    b: str = 'x'


class Closed(BaseModel):
    model_config = ConfigDict(extra='forbid')
    a: int


class Open(BaseModel):
    model_config = ConfigDict(extra='allow')
    a: int


class Extra(BaseModel):
    model_config = ConfigDict(json_schema_extra={'examples': [{'a': 1}], 'x-ui': 'card'})
    a: int = Field(description='d', title='T', examples=[1], deprecated=True)


class Alias(BaseModel):
    a: int = Field(alias='the A')


@pydantic.dataclasses.dataclass
class Data:
    a: int
    b: str = 'x'


TYPES = dict(
    str=str,
    int=int,
    float=float,
    bool=bool,
    none=None,
    any=Any,
    bytes=bytes,
    date=datetime.date,
    datetime=datetime.datetime,
    time=datetime.time,
    timedelta=datetime.timedelta,
    aware=AwareDatetime,
    naive=NaiveDatetime,
    past=PastDate,
    future=FutureDatetime,
    decimal=decimal.Decimal,
    decimalBounds=Annotated[decimal.Decimal, Field(max_digits=5, decimal_places=2, ge=0)],
    uuid=uuid.UUID,
    uuid4=UUID4,
    uuid1=UUID1,
    uuid7=UUID7,
    email=EmailStr,
    nameEmail=NameEmail,
    anyUrl=AnyUrl,
    httpUrl=HttpUrl,
    fileUrl=FileUrl,
    postgres=PostgresDsn,
    ip4=ipaddress.IPv4Address,
    ip6=ipaddress.IPv6Address,
    ipAny=IPvAnyAddress,
    net4=ipaddress.IPv4Network,
    net6=ipaddress.IPv6Network,
    path=pathlib.Path,
    filePath=FilePath,
    pattern=Annotated[str, StringConstraints(pattern=r'^[A-Z]{2}-\d+$')],
    patternMax=Annotated[str, StringConstraints(pattern=r'^[a-z]+$', max_length=8)],
    compiled=Annotated[str, Field(pattern=re.compile(r'(?P<year>\d{4})').pattern)],
    regexp=Pattern,
    lens=Annotated[str, Field(min_length=2, max_length=5)],
    maxlen=Annotated[str, Field(max_length=4000)],
    strip=Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)],
    secret=SecretStr,
    conint=Annotated[int, Field(ge=1, le=5)],
    gt=Annotated[float, Field(gt=0, lt=1)],
    mult=Annotated[int, Field(multiple_of=5, ge=0)],
    multf=Annotated[float, Field(multiple_of=0.5)],
    mult7=conint(multiple_of=7, ge=0, le=100),
    positive=PositiveInt,
    nonneg=NonNegativeFloat,
    finite=FiniteFloat,
    strictInt=StrictInt,
    byteSize=ByteSize,
    base64=Base64Str,
    json=Json,
    enum=Color,
    intEnum=Level,
    literal=Literal['a', 1, None],
    optional=Optional[int],
    union=Union[int, str],
    list=list[int],
    listBounds=Annotated[list[int], Field(min_length=1, max_length=3)],
    listMax=Annotated[list[int], Field(max_length=3000)],
    set=set[int],
    frozenset=frozenset[Color],
    tuple=tuple[int, str],
    tupleVar=tuple[int, ...],
    tupleUnion=tuple[Union[int,str], bool],
    dict=dict[str,int],
    dictEnum=dict[Color,int],
    dictLit=dict[Literal['a','b'],int],
    dictInt=dict[int,str],
    dictPat=dict[Annotated[str, StringConstraints(pattern='^x')], int],
    dictLens=Annotated[dict[str,int], Field(min_length=1, max_length=3)],
    dictAny=dict,
    mapping=Mapping[str, float],
    leaf=Leaf,
    leaves=list[Leaf],
    tree=Tree,
    discriminated=Annotated[Union[Cat, Dog], Field(discriminator='kind')],
    discriminatedD=Annotated[Union[DefaultCat, DefaultDog], Field(discriminator='kind')],
    typed=Typed,
    named=Named,
    closed=Closed,
    open=Open,
    extra=Extra,
    alias=Alias,
    data=Data,
    desc=Annotated[Leaf, Field(description='x')],
    objectType=object,
    intDefault=Annotated[int, Field(default=3)],
    iterable=Sequence[int],
    year=Annotated[int, Field(ge=1900, le=2100)],
    big=Annotated[float, Field(le=1e30)],
)


def model_of(type_):
    """A model with one field, as chat clients take them."""
    return create_model('M', value=(type_, ...))


HELPERS = {
    'pydantic': lambda type_: TypeAdapter(type_).json_schema(),
    'openai': lambda type_: to_strict_json_schema(model_of(type_)),
    'langchain': lambda type_: convert_to_openai_function(model_of(type_), strict=True)['parameters'],
    'instructor': lambda type_: instructor.function_calls.openai_schema(model_of(type_)).openai_schema['parameters'],
    'pydantic-ai': lambda type_: OpenAIJsonSchemaTransformer(model_of(type_).model_json_schema(), strict=True).walk(),
}

if __name__ == '__main__':
    lines = []
    for helper, schema_of in HELPERS.items():
        rows = [f'    {json.dumps(name)}: {json.dumps(schema_of(type_))}' for name, type_ in TYPES.items()]
        lines.append(f'  {json.dumps(helper)}: {{\n' + ',\n'.join(rows) + '\n  }')
    pathlib.Path(__file__).with_suffix('.json').write_text('{\n' + ',\n'.join(lines) + '\n}\n')
