import { stat } from 'node:fs/promises';
import { base64Length, base64OfFile } from '../../runtime/base/base64.js';
import type { Files, StoredFile } from '../../runtime/files/files.js';
import { uploadLimitBytes } from '../../runtime/files/limits.js';
import type { Picture } from '../../runtime/pictures/picture.js';
import { type Endpoint, endpoint, type Reply, type Request, type UploadedFile } from '../../schemas/endpoint.js';
import type { File, FileDeleted, FileList, UploadForm } from '../../schemas/generated/universal/files.js';
import { andThen } from '../http/streamed-answer.js';

/** What the file endpoints work on. */
export interface FilesContext {
  readonly files: Files;
}

const FILE = '/v1/files/{file_id}';

/** What is told of a file wherever it is shown. The members after `created_at` are those of the OpenAI API. */
function common({ id, name, mimeType, sizeBytes, createdAt, pages, purpose }: StoredFile) {
  return {
    id,
    object: 'file' as const,
    filename: name,
    content_type: mimeType,
    size: sizeBytes,
    created_at: createdAt / 1000,
    bytes: sizeBytes,
    purpose,
    status: 'processed' as const,
    page_count: pages,
  };
}

function renderFile(files: Files, file: StoredFile, hasImages: boolean): File {
  return { ...common(file), has_images: hasImages, expires_at: files.expiresAt(file) / 1000 };
}

async function upload({ files }: FilesContext, request: Request): Promise<Reply> {
  const [received] = request.files as [UploadedFile];
  const { convert_pdf = true, pdf_dpi = 150, purpose = '' } = request.body as UploadForm;
  const file = await files.add(received, { convertPdf: convert_pdf, dpi: pdf_dpi, purpose }, request.signal);
  return { json: renderFile(files, file, file.pages !== null || file.isImage) };
}

function list({ files }: FilesContext, request: Request): Reply {
  const { purpose } = request.query;
  const wanted = files.list().filter((file) => purpose === undefined || file.purpose === purpose);
  const data = wanted.map((file) => ({ ...common(file), ttl_remaining: files.remainingS(file), has_page_images: file.pages !== null }));
  return { json: { object: 'list', data, has_more: false } satisfies FileList };
}

/** The JSON of pictures, of which a large one alone is more than a turn of the event loop or fifty readers' memory can hold. */
async function* imageList(head: string, pictures: readonly Picture[]): AsyncGenerator<Buffer, void, undefined> {
  yield Buffer.from(head);
  for (const [index, { path }] of pictures.entries()) {
    yield Buffer.from(before(index));
    yield* base64OfFile(path!);
    yield Buffer.from(AFTER);
  }
  yield Buffer.from(END);
}

const before = (index: number): string => `${index === 0 ? '' : ','}{"index":${index},"base64":"`;
const AFTER = '"}';
const END = ']}';

async function images({ files }: FilesContext, request: Request): Promise<Reply> {
  const id = request.params.file_id!;
  const { pictures, release } = await files.pictures(id, request.signal);
  try {
    const head = `{"object":"list","file_id":${JSON.stringify(id)},"data":[`;
    const sizes = await Promise.all(pictures.map(async ({ path }) => base64Length((await stat(path!)).size)));
    const length = sizes.reduce((sum, size, index) => sum + before(index).length + size + AFTER.length, head.length + END.length);
    return { pieces: andThen(imageList(head, pictures), release), length, contentType: 'application/json' };
  } catch (error) {
    release();
    throw error;
  }
}

/** Files that clients leave for other endpoints. */
export const fileEndpoints: Endpoint<FilesContext>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/files',
    id: 'create_file',
    access: 'users',
    summary: 'Leave a file for five minutes',
    tag: 'files',
    multipart: { form: 'universal/files#UploadForm', maxFiles: 1, fileLimitBytes: uploadLimitBytes() },
    response: 'universal/files#File',
    errorShape: 'openai',
    handler: upload,
  }),
  endpoint({
    method: 'GET',
    path: '/v1/files',
    id: 'list_files',
    access: 'users',
    summary: 'Files that are kept',
    tag: 'files',
    query: 'universal/files#ListQuery',
    response: 'universal/files#FileList',
    errorShape: 'openai',
    handler: list,
  }),
  endpoint({
    method: 'GET',
    path: FILE,
    id: 'get_file',
    access: 'users',
    summary: 'What is known of a file',
    tag: 'files',
    response: 'universal/files#File',
    errorShape: 'openai',
    handler: ({ files }, { params }) => {
      const file = files.get(params.file_id!);
      return { json: renderFile(files, file, file.pages !== null) };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${FILE}/images`,
    id: 'get_file_images',
    access: 'users',
    summary: 'The pages of a PDF, or an image, as base64',
    tag: 'files',
    response: 'universal/files#FileImages',
    errorShape: 'openai',
    handler: images,
  }),
  endpoint({
    method: 'DELETE',
    path: FILE,
    id: 'delete_file',
    access: 'users',
    summary: 'Remove a file',
    tag: 'files',
    response: 'universal/files#FileDeleted',
    errorShape: 'openai',
    handler: ({ files }, { params }) => {
      const id = params.file_id!;
      files.remove(id);
      return { json: { deleted: true, id, object: 'file' } satisfies FileDeleted };
    },
  }),
];
