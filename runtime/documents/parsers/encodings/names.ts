/** Encodings by the name that metadata shows, with the other names they go by, in the form of `plainLabel`. */
const LABELS: Readonly<Record<string, string>> = {
  'utf-8': 'utf8 unicode11utf8',
  'utf-16le': 'utf16le utf16 ucs2 iso10646ucs2 unicode unicodefeff',
  'utf-16be': 'utf16be unicodefffe',
  'utf-32le': 'utf32le utf32 ucs4',
  'utf-32be': 'utf32be',
  'utf-7': 'utf7 unicode11utf7',
  // What calls itself Latin-1 or ASCII uses the quotation marks of Windows.
  'windows-1252': 'ascii usascii ansix341968 latin1 l1 isolatin1',
  'windows-1254': 'latin5 l5 isolatin5',
  'windows-874': 'tis620 dos874 thai',
  'iso-8859-2': 'latin2 l2 isolatin2',
  'iso-8859-3': 'latin3 l3',
  'iso-8859-4': 'latin4 l4',
  'iso-8859-5': 'cyrillic isolatincyrillic',
  'iso-8859-6': 'arabic isolatinarabic asmo708 ecma114',
  'iso-8859-7': 'greek greek8 isolatingreek ecma118 elot928',
  'iso-8859-8': 'hebrew isolatinhebrew visual logical',
  'iso-8859-10': 'latin6 l6 isolatin6',
  'iso-8859-15': 'latin9 l9 isolatin9',
  'koi8-r': 'koi8r koi8 koi',
  'koi8-u': 'koi8u koi8ru',
  macintosh: 'macintosh mac macroman',
  'x-mac-cyrillic': 'maccyrillic macukraine macukrainian',
  shift_jis: 'shiftjis sjis windows31j mskanji macjapanese',
  'euc-jp': 'eucjp ujis eucpkdfmtjapanese',
  'iso-2022-jp': 'iso2022jp iso2022jp1 iso2022jp2 jis7',
  'iso-2022-kr': 'iso2022kr',
  'iso-2022-cn': 'iso2022cn iso2022cnext',
  gb18030: 'gb18030 gbk gb2312 gb231280 euccn chinese hzgbk isoir58 iso58gb231280 macsimpchinese',
  'hz-gb-2312': 'hzgb2312 hz',
  big5: 'big5 big5hkscs cnbig5 big5eten mactradchinese',
  'euc-kr': 'euckr uhc korean ksc5601 ksc56011987 ksc56011989 isoir149 mackorean',
  viscii: 'viscii',
  'armscii-8': 'armscii8',
};
/** Encodings by the number that Windows, DOS and Mac OS know them by, where it is not part of their name. */
const CODE_PAGES: Readonly<Record<number, string>> = {
  866: 'ibm866', 874: 'windows-874', 932: 'shift_jis', 936: 'gb18030', 949: 'euc-kr', 950: 'big5',
  1200: 'utf-16le', 1201: 'utf-16be', 12000: 'utf-32le', 12001: 'utf-32be', 65000: 'utf-7', 65001: 'utf-8',
  10000: 'macintosh', 10001: 'shift_jis', 10002: 'big5', 10003: 'euc-kr', 10006: 'macgreek', 10007: 'x-mac-cyrillic', 10008: 'gb18030',
  10010: 'macromania', 10017: 'x-mac-cyrillic', 10021: 'macthai', 10029: 'maccenteuro', 10079: 'maciceland', 10081: 'macturkish', 10082: 'maccroatian',
  20127: 'windows-1252', 20866: 'koi8-r', 21866: 'koi8-u', 20932: 'euc-jp', 20936: 'gb18030', 20949: 'euc-kr', 38598: 'iso-8859-8',
  50220: 'iso-2022-jp', 50221: 'iso-2022-jp', 50222: 'iso-2022-jp', 50225: 'iso-2022-kr', 50227: 'iso-2022-cn',
  51932: 'euc-jp', 51936: 'gb18030', 51949: 'euc-kr', 52936: 'hz-gb-2312', 54936: 'gb18030',
}; // biome-ignore format: a table
const DOS_PAGES = new Set([437, 720, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 869]);
/** Numbers of ISO 8859 that Windows widens: their letters are the same, and Windows has signs where ISO has nothing. */
const WIDENED: Readonly<Record<number, string>> = { 1: 'windows-1252', 9: 'windows-1254', 11: 'windows-874' };
const ISO_LAST = 16;
const BY_LABEL = new Map(Object.entries(LABELS).flatMap(([name, labels]) => labels.split(' ').map((label) => [label, name] as const)));

/** A label without case, punctuation, year and the marks `x-` and `cs` of private and registered names. */
function plainLabel(label: string): string {
  const bare = label
    .slice(0, 100)
    .toLowerCase()
    .replace(/:\d{4}/, '')
    .replace(/[^a-z0-9]/g, '');
  return bare.replace(/^(?:x|cs)(?=[a-z]{2})/, '');
}

function isoPart(number: number): string | undefined {
  if (WIDENED[number]) return WIDENED[number];
  return number >= 1 && number <= ISO_LAST && number !== 12 ? `iso-8859-${number}` : undefined;
}

/** The encoding that a code page of Windows, DOS or Mac OS is; undefined for numbers that are not read. */
export function encodingOfCodePage(number: number): string | undefined {
  if (CODE_PAGES[number]) return CODE_PAGES[number];
  if (number >= 1250 && number <= 1258) return `windows-${number}`;
  if (DOS_PAGES.has(number)) return `cp${number}`;
  return number > 28590 && number <= 28590 + ISO_LAST ? isoPart(number - 28590) : undefined;
}

/** The encoding that a label means, however it is written; undefined for labels that name none that is read. */
export function encodingOf(label: string): string | undefined {
  const plain = plainLabel(label);
  const known = BY_LABEL.get(plain);
  if (known) return known;
  const iso = /^iso8859(\d{1,2})[ei]?$/.exec(plain);
  if (iso) return isoPart(Number(iso[1]));
  const page = /^(?:cp|windows|win|ibm|ms|ansi|dos|oem|codepage)?(\d{3,5})$/.exec(plain);
  if (page) return encodingOfCodePage(Number(page[1]));
  // The names of the tables above that are no labels.
  return /^mac(?:greek|romania|thai|centeuro|iceland|turkish|croatian)$/.test(plain) ? plain : undefined;
}
