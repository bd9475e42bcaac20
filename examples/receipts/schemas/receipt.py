"""What is read from a receipt or an invoice."""

from datetime import date
from enum import Enum
from typing import Optional

from pydantic import BaseModel, Field


class Kind(str, Enum):
    RECEIPT = "receipt"
    INVOICE = "invoice"


class Line(BaseModel):
    """One thing that was bought."""

    item: str
    price: float = Field(ge=0, description="What the line costs in all.")


class Receipt(BaseModel):
    """A receipt or an invoice, with the amounts as they are printed."""

    kind: Kind
    seller: str = Field(description="Who was paid, or wants to be paid.")
    number: Optional[str] = Field(default=None, description="The number of the invoice, where it has one.")
    day: Optional[date] = Field(default=None, description="The day on which it was written.")
    lines: list[Line] = Field(default_factory=list, max_length=40)
    total: float = Field(ge=0)
