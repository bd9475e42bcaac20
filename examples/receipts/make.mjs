// Draws the receipts of this example and writes its invoices: node examples/receipts/make.mjs. Their files are kept in the tree.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';

const here = import.meta.dirname;
const CUSTOMER = 'Finch and Daughters, architects, 9 Tanner Row, Aldbury';
const [WIDTH, LINE, MARGIN, FONT] = [600, 44, 40, 30];
/** Of the scans. */
const DPI = 200;
/** Characters between the margins. */
const COLUMNS = 28;
/** Receipts that are also kept as pictures, for requests that take an image. */
const PICTURES = ['taxi', 'stationer', 'hotel'];

/** Receipts as they come out of a till: name, lines above, what was bought with its price, lines below. */
const RECEIPTS = {
  taxi: [
    ['CORVIN CABS', 'Licence 2281', '04.03.2026  07:52'],
    [
      ['Airport - Tanner Row', 38.4],
      ['Luggage', 2.0],
    ],
    ['Paid by card', 'Driver: Anand'],
  ],
  stationer: [
    ['PELL AND INK', 'Stationers', '11.03.2026  15:20'],
    [
      ['Tracing paper A1', 24.9],
      ['Fineliner 0.3 x6', 13.8],
      ['Glue stick', 2.35],
    ],
    ['Paid in cash', 'Exchange within 14 days'],
  ],
  hotel: [
    ['HOTEL MERIDIAN', 'Quay Street 2', '19.03.2026'],
    [
      ['Room 214, 2 nights', 236.0],
      ['Breakfast x2', 29.0],
      ['Garage', 18.0],
    ],
    ['Guest: M. Finch', 'Paid by card'],
  ],
  parking: [['CITY GARAGE EAST', 'Ticket 770413', '20.03.2026'], [['4 h 10 min', 11.5]], ['Vehicle AB 61 KLM', 'Paid at machine 3']],
  hardware: [
    ['GANTRY HARDWARE', 'Unit 4, Mill Lane', '27.03.2026'],
    [
      ['Laser measure', 89.0],
      ['Batteries AAA x8', 9.6],
      ['Chalk line', 7.45],
    ],
    ['Guarantee three years', 'Keep this receipt'],
  ],
  train: [
    ['NORTHERN RAILWAY', 'Ticket office', '02.04.2026'],
    [
      ['Return Aldbury - Vale', 46.2],
      ['Seat', 4.0],
    ],
    ['Coach C, seat 41', 'Not refundable'],
  ],
};

/** Invoices: file, supplier, number, date, due, lines (what, how many, price of one), tax in percent, a note. */
const INVOICES = [
  [
    'copper-print',
    'Copper Print Works',
    'CP-3391',
    '2026-02-03',
    '2026-02-17',
    [
      ['Plans on paper A0', 40, 3.2],
      ['Folding', 40, 0.4],
    ],
    20,
    'Two per cent off when paid within five days.',
  ],
  [
    'lumen',
    'Lumen Lighting Design',
    'L-0087',
    '2026-02-09',
    '2026-03-11',
    [['Study of daylight, school in Vale', 1, 1850]],
    20,
    'The model of the hall stays our property.',
  ],
  [
    'harrow',
    'Harrow Land Surveyors',
    '26/114',
    '2026-02-16',
    '2026-03-02',
    [
      ['Survey of the plot at Heron Way', 1, 940],
      ['Marker stones', 6, 22],
    ],
    20,
    'The benchmark is the church step, 84.21 metres above the sea.',
  ],
  [
    'cleanair',
    'Clean Air Office Care',
    '55210',
    '2026-02-28',
    '2026-03-14',
    [['Cleaning of the office, February', 8, 62]],
    20,
    'The kitchen window was not opened; we come again on the tenth.',
  ],
  [
    'northgrid',
    'Northgrid Power',
    'NG-771209',
    '2026-03-01',
    '2026-03-22',
    [
      ['Current, kilowatt hours', 412, 0.31],
      ['Standing charge, days', 28, 0.42],
    ],
    5,
    'Meter 6640 was read by you. The next reading is in May.',
  ],
  [
    'sable',
    'Sable Model Makers',
    'S-219',
    '2026-03-06',
    '2026-04-05',
    [
      ['Model 1:200, school in Vale', 1, 2400],
      ['Trees', 60, 1.5],
    ],
    20,
    'Transport in a crate on 12 March, at your risk.',
  ],
  [
    'pixelyard',
    'Pixelyard Software',
    'PY-90023',
    '2026-03-10',
    '2026-03-10',
    [['Drawing program, seats, one year', 5, 318]],
    0,
    'Reverse charge: the customer owes the tax. Renewed by itself unless cancelled by 9 February.',
  ],
  [
    'tern',
    'Tern Structural Engineers',
    'T-2026-31',
    '2026-03-15',
    '2026-04-14',
    [
      ['Check of the roof beams', 14, 96],
      ['Site visit', 2, 140],
    ],
    20,
    'Beam B7 must be made 40 millimetres deeper.',
  ],
  [
    'aldbury-council',
    'Aldbury Council, planning office',
    'PL/26/0408',
    '2026-03-18',
    '2026-04-01',
    [['Fee for application 0408', 1, 578]],
    0,
    'The eight weeks of the decision start with the payment.',
  ],
  [
    'quill',
    'Quill Translations',
    'Q114',
    '2026-03-23',
    '2026-04-22',
    [['Brief, Norwegian to English, words', 5200, 0.14]],
    20,
    'Sworn copy on request.',
  ],
  [
    'bluebird',
    'Bluebird Couriers',
    'BB-6672',
    '2026-03-31',
    '2026-04-07',
    [
      ['Parcels within the county', 17, 6.9],
      ['Overnight', 2, 21],
    ],
    20,
    'Parcel 6672-09 came back: nobody answered at the door.',
  ],
  [
    'roost',
    'Roost Office Furniture',
    'R-4410',
    '2026-04-02',
    '2026-05-02',
    [
      ['Drawing table, oak', 2, 615],
      ['Stool', 4, 84],
    ],
    20,
    'The stools follow in week 18.',
  ],
  [
    'hartmann',
    'Hartmann and Low, solicitors',
    'HL 3302',
    '2026-04-08',
    '2026-04-22',
    [['Advice on the contract with Tern', 3.5, 210]],
    20,
    'Clause 9 was changed as you asked.',
  ],
  [
    'vale-hall',
    'Vale Village Hall',
    '12',
    '2026-04-10',
    '2026-04-17',
    [
      ['Hall for the opening, hours', 5, 35],
      ['Deposit for the keys', 1, 50],
    ],
    0,
    'The deposit is sent back when the keys are.',
  ],
];

const cents = (amount) => amount.toFixed(2);
const escaped = (text) => text.replace(/[&<>]/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[mark]);

function linesOf([head, bought, foot]) {
  const row = (what, price) => what.padEnd(COLUMNS - 9) + cents(price).padStart(9);
  const total = bought.reduce((sum, [, price]) => sum + price, 0);
  return [...head, '', ...bought.map(([what, price]) => row(what, price)), '', row('TOTAL', total), '', ...foot];
}

/** A picture of lines in a type of one width, a little askew and grainy, as a scan is. */
async function drawn(lines) {
  const height = lines.length * LINE + 2 * MARGIN;
  const texts = lines.map(
    (line, at) => `<text x="${MARGIN}" y="${MARGIN + (at + 1) * LINE - 12}" xml:space="preserve">${escaped(line)}</text>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}"><rect width="100%" height="100%" fill="#f4f3ee"/>
    <g transform="rotate(0.4)" font-family="DejaVu Sans Mono, monospace" font-size="${FONT}" fill="#222">${texts.join('')}</g></svg>`;
  return sharp(Buffer.from(svg)).flatten().greyscale().blur(0.4).toColourspace('b-w');
}

/** A PDF of one page that holds nothing but a JPEG, `width` x `height` pixels. */
function pdfOf(jpeg, width, height) {
  const [across, up] = [width, height].map((pixels) => ((pixels * 72) / DPI).toFixed(2));
  const content = `q ${across} 0 0 ${up} 0 0 cm /P Do Q`;
  const objects = [
    ['<< /Type /Catalog /Pages 2 0 R >>'],
    ['<< /Type /Pages /Kids [3 0 R] /Count 1 >>'],
    [`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${across} ${up}] /Contents 4 0 R /Resources << /XObject << /P 5 0 R >> >> >>`],
    [`<< /Length ${content.length} >>\nstream\n${content}\nendstream`],
    [
      `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode /Length ${jpeg.length} >>\nstream\n`,
      jpeg,
      '\nendstream',
    ],
  ];
  const pieces = [Buffer.from('%PDF-1.4\n')];
  const offsets = [];
  const size = () => pieces.reduce((sum, { length }) => sum + length, 0);
  for (const [at, parts] of objects.entries()) {
    offsets.push(size());
    pieces.push(Buffer.from(`${at + 1} 0 obj\n`), ...parts.map((part) => Buffer.from(part)), Buffer.from('\nendobj\n'));
  }
  const start = size();
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  pieces.push(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`));
  pieces.push(Buffer.from(`trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`));
  return Buffer.concat(pieces);
}

function invoiceOf([, supplier, number, date, due, bought, tax, note]) {
  const net = bought.reduce((sum, [, count, price]) => sum + count * price, 0);
  const rows = bought.map(
    ([what, count, price]) => `    <tr><td>${what}</td><td>${count}</td><td>${price}</td><td>${cents(count * price)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Invoice ${number} of ${supplier}</title></head>
<body>
  <h1>Invoice ${number} of ${supplier}</h1>
  <p>To ${CUSTOMER}. Date: ${date}. Payable until ${due}.</p>
  <table>
    <tr><th>Item</th><th>Number</th><th>Price of one</th><th>Price</th></tr>
${rows.join('\n')}
  </table>
  <p>Net ${cents(net)}, tax of ${tax} per cent ${cents((net * tax) / 100)}, total ${cents(net * (1 + tax / 100))}.</p>
  <p>${note}</p>
</body>
</html>
`;
}

for (const [name, receipt] of Object.entries(RECEIPTS)) {
  const picture = await drawn(linesOf(receipt));
  const { data, info } = await picture.clone().jpeg({ quality: 80 }).toBuffer({ resolveWithObject: true });
  writeFileSync(join(here, 'files', `receipt-${name}.pdf`), pdfOf(data, info.width, info.height));
  if (PICTURES.includes(name))
    writeFileSync(join(here, 'pictures', `${name}.png`), await picture.png({ palette: true, colours: 16 }).toBuffer());
}
for (const invoice of INVOICES) writeFileSync(join(here, 'files', `invoice-${invoice[0]}.html`), invoiceOf(invoice));
