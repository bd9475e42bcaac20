import { readXml } from '../markup.js';
import type { PdfDocument } from './library.js';

/** Bytes of `FPDF_FORMFILLINFO` with room to spare; all its functions stay empty, so that nothing runs what the file asks for. */
const FORM_INFO_BYTES = 512;
const FORM_INFO_VERSION = 1;
const WIDGET = 20;
const FREE_TEXT = 3;
/** `FPDF_FORMFIELD_*`. */
const [CHECK_BOX, RADIO_BUTTON, COMBO_BOX, LIST_BOX, TEXT_FIELD] = [2, 3, 4, 5, 6];
/** Field flag of a text that is shown as dots. */
const PASSWORD = 1 << 13;
const WIDGETS_PER_PAGE = 10_000;
const OPTION_LIMIT = 1000;
/** `FORMTYPE_XFA_FULL` and `FORMTYPE_XFA_FOREGROUND`: forms whose values lie in XML. */
const XFA_TYPES: readonly number[] = [2, 3];

/** The form of an open PDF. Close it before the document. */
export class PdfForm {
  readonly #pdf: PdfDocument;
  readonly #handle: number;
  readonly #release: () => void;

  constructor(pdf: PdfDocument) {
    const { pointer, free } = pdf.zeroed(FORM_INFO_BYTES, FORM_INFO_VERSION);
    this.#pdf = pdf;
    this.#release = free;
    this.#handle = pdf.call('FPDFDOC_InitFormFillEnvironment', pdf.handle, pointer);
  }

  /** `name: value` of each filled field of a page, and what was typed onto it; the values of check boxes are those that the form gives them. */
  valuesOf(page: number): string[] {
    const pdf = this.#pdf;
    const found: string[] = [];
    const count = Math.min(WIDGETS_PER_PAGE, pdf.call('FPDFPage_GetAnnotCount', page));
    if (count === 0) return found;
    pdf.call('FORM_OnAfterLoadPage', page, this.#handle);
    for (let index = 0; index < count; index += 1) {
      const annotation = pdf.call('FPDFPage_GetAnnot', page, index);
      if (annotation === 0) continue;
      const subtype = pdf.call('FPDFAnnot_GetSubtype', annotation);
      if (subtype === WIDGET) found.push(...this.#field(annotation));
      else if (subtype === FREE_TEXT) {
        const typed = pdf.withName('Contents', (key) =>
          pdf.text((buffer, bytes) => pdf.call('FPDFAnnot_GetStringValue', annotation, key, buffer, bytes)),
        );
        if (typed.trim() !== '') found.push(typed.trim());
      }
      pdf.call('FPDFPage_CloseAnnot', annotation);
    }
    pdf.call('FORM_OnBeforeClosePage', page, this.#handle);
    return found;
  }

  /** `path: value` of the data of a form that is kept in XML (XFA); none where the form is of another kind. */
  xmlValues(): string[] {
    const pdf = this.#pdf;
    if (!XFA_TYPES.includes(pdf.call('FPDF_GetFormType', pdf.handle))) return [];
    const count = Math.min(OPTION_LIMIT, pdf.call('FPDF_GetXFAPacketCount', pdf.handle));
    for (let index = 0; index < count; index += 1) {
      const name = pdf.text((buffer, bytes) => pdf.call('FPDF_GetXFAPacketName', pdf.handle, index, buffer, bytes), 'utf-8');
      if (name === 'datasets')
        return leavesOf(
          pdf.bytes((buffer, bytes, written) => pdf.call('FPDF_GetXFAPacketContent', pdf.handle, index, buffer, bytes, written)),
        );
    }
    return [];
  }

  close(): void {
    if (this.#handle !== 0) this.#pdf.call('FPDFDOC_ExitFormFillEnvironment', this.#handle);
    this.#release();
  }

  #field(annotation: number): string[] {
    const text = (name: `FPDFAnnot_${string}`): string =>
      this.#pdf.text((buffer, bytes) => this.#pdf.call(name, this.#handle, annotation, buffer, bytes)).trim();
    const value = this.#value(annotation, text);
    if (value === '') return [];
    const [name, label] = [text('FPDFAnnot_GetFormFieldName'), text('FPDFAnnot_GetFormFieldAlternateName')];
    return [`${label === '' || label === name ? name : `${label} (${name})`}: ${value}`];
  }

  #value(annotation: number, text: (name: `FPDFAnnot_${string}`) => string): string {
    const type = this.#pdf.call('FPDFAnnot_GetFormFieldType', this.#handle, annotation);
    if (type === CHECK_BOX || type === RADIO_BUTTON) {
      const isChecked = this.#pdf.call('FPDFAnnot_IsChecked', this.#handle, annotation) !== 0;
      return isChecked ? text('FPDFAnnot_GetFormFieldExportValue') || 'yes' : '';
    }
    if (type === TEXT_FIELD && this.#pdf.call('FPDFAnnot_GetFormFieldFlags', this.#handle, annotation) & PASSWORD) return '';
    const chosen = type === COMBO_BOX || type === LIST_BOX ? this.#chosen(annotation) : [];
    if (chosen.length > 0) return chosen.join(', ');
    return type === TEXT_FIELD || type === COMBO_BOX || type === LIST_BOX ? text('FPDFAnnot_GetFormFieldValue') : '';
  }

  /** The labels of the selected options. */
  #chosen(annotation: number): string[] {
    const pdf = this.#pdf;
    const count = Math.min(OPTION_LIMIT, pdf.call('FPDFAnnot_GetOptionCount', this.#handle, annotation));
    return Array.from({ length: Math.max(0, count) }, (_, index) => index)
      .filter((index) => pdf.call('FPDFAnnot_IsOptionSelected', this.#handle, annotation, index) !== 0)
      .map((index) => pdf.text((buffer, bytes) => pdf.call('FPDFAnnot_GetOptionLabel', this.#handle, annotation, index, buffer, bytes)));
  }
}

/** `path: text` of the elements without elements below that have a text. */
function leavesOf(xml: Uint8Array): string[] {
  const found: string[] = [];
  const path: string[] = [];
  let text = '';
  readXml(xml, {
    open: (name) => {
      path.push(name.slice(name.indexOf(':') + 1));
      text = '';
    },
    text: (piece) => {
      text += piece;
    },
    close: () => {
      const names = path.filter((name) => name !== 'datasets' && name !== 'data');
      if (text.trim() !== '') found.push(`${names.join('.')}: ${text.trim()}`);
      path.pop();
      text = '';
    },
  });
  return found;
}
