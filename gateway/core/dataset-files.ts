import { quote } from '../../runtime/base/names.js';
import { FILE_BYTES, MAX_BULK_FILES } from '../../runtime/library/datasets/contract.js';
import type { AddedFile, Datasets } from '../../runtime/library/datasets/datasets.js';
import { parseOverrides } from '../../runtime/library/datasets/overrides.js';
import type { HashedFile, PagePictures } from '../../runtime/library/datasets/page-pictures.js';
import type { Tasks } from '../../runtime/tasks/tasks.js';
import { type Endpoint, endpoint, type FormBody, type Reply, type Request, type UploadedFile } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { BulkReply, ChunkList, ChunksQuery, PageQuery, UploadReply } from '../../schemas/generated/core/datasets.js';
import { FILE_MEDIA_TYPES, fileAnswer, hasTag } from './file-answer.js';

/** What the dataset endpoints work on. */
export interface DatasetContext {
  readonly datasets: Datasets;
  readonly tasks: Tasks;
  readonly pagePictures: PagePictures;
}

/** Path of the collection. */
export const DATASETS = '/v1/projects/{namespace}/{project}/datasets';
/** Path of one dataset. */
export const DATASET = `${DATASETS}/{dataset}`;

/** The dataset that a request is about. */
export function datasetPlace({ params }: Pick<Request, 'params'>): [namespace: string, project: string, dataset: string] {
  return [params.namespace!, params.project!, params.dataset!];
}

const FILE = `${DATASET}/data/{file_hash}`;
/** Pixels across a page where nobody says so. */
const PAGE_WIDTH = 1_000;
const CHUNKS = 50;

/** Refuses an upload to a dataset that does not exist before its bytes are read. */
const admit: FormBody<DatasetContext>['admit'] = ({ datasets }, request) => {
  datasets.find(...datasetPlace(request));
  return undefined;
};

/** What an upload asks for besides storing; checked before anything is kept. */
function wishOf({ datasets }: DatasetContext, request: Request): { process: boolean; overrides: unknown } {
  const { dataset } = datasets.find(...datasetPlace(request));
  const overrides = parseOverrides((request.body as { parser_overrides?: string }).parser_overrides);
  datasets.processing.checked(...datasetPlace(request), overrides);
  return { process: (request.query.auto_process as boolean | undefined) ?? dataset.auto_process ?? false, overrides };
}

/** What an answer says of files of the same name. */
function versionOf({ added, file: { version }, replaced }: AddedFile): Pick<UploadReply, 'version' | 'replaced'> {
  return { ...(added && version !== undefined ? { version } : {}), ...(replaced.length > 0 ? { replaced: [...replaced] } : {}) };
}

async function upload(context: DatasetContext, request: Request): Promise<UploadReply> {
  const { datasets } = context;
  const [file] = request.files as [UploadedFile];
  const { process, overrides } = wishOf(context, request);
  const result = await datasets.add(...datasetPlace(request), file);
  const { added } = result;
  const reply: UploadReply = {
    filename: file.name,
    hash: file.sha256,
    processed: false,
    skipped: !added,
    task_id: null,
    status: added ? 'uploaded' : 'skipped',
    ...versionOf(result),
  };
  if (!added || !process) return reply;
  const id = await datasets.processing.start(...datasetPlace(request), { hashes: [file.sha256], overrides });
  return { ...reply, processed: true, task_id: id, status: 'processing' };
}

async function uploadMany(context: DatasetContext, request: Request): Promise<BulkReply> {
  const { datasets } = context;
  const process = request.query.auto_process === true;
  const { overrides } = wishOf(context, request);
  const files: BulkReply['files'] = [];
  let full: Failure | undefined;
  for (const file of request.files) {
    const together = request.files.filter(({ name }) => name === file.name).map(({ sha256 }) => sha256);
    const seen = { filename: file.name, hash: file.sha256, error: null };
    try {
      const result = await datasets.add(...datasetPlace(request), file, together);
      files.push({ ...seen, status: result.added ? 'uploaded' : 'skipped', ...versionOf(result) });
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      if (failure.kind === 'disk_full') full = failure;
      files.push({ ...seen, status: 'error', error: failure.message });
    }
  }
  const count = (status: string): number => files.filter((file) => file.status === status).length;
  const [uploaded, skipped, failed] = [count('uploaded'), count('skipped'), count('error')];
  if (full && uploaded === 0) throw full;
  const reply: BulkReply = {
    uploaded,
    skipped,
    failed,
    task_id: null,
    status: uploaded > 0 ? 'uploaded' : failed > 0 ? 'error' : 'skipped',
    files,
  };
  if (!process || uploaded === 0) return reply;
  const hashes = files.filter(({ status }) => status === 'uploaded').map(({ hash }) => hash);
  return { ...reply, task_id: await datasets.processing.start(...datasetPlace(request), { hashes, overrides }), status: 'processing' };
}

/** The file of the path, for reading. */
async function fileOf({ datasets }: DatasetContext, request: Request): Promise<HashedFile> {
  const hash = request.params.file_hash!;
  return { hash, file: await datasets.file(...datasetPlace(request), hash) };
}

async function page(context: DatasetContext, request: Request): Promise<Reply> {
  const { page: number = '' } = request.params;
  if (!/^[1-9]\d{0,5}$/.test(number)) throw new Failure('not_found', `${quote(number)} is no page: pages are numbered from 1.`);
  const { width = PAGE_WIDTH } = request.query as PageQuery;
  const found = await fileOf(context, request);
  const tag = `"${found.hash}-${number}-${width}"`;
  const headers = { ETag: tag, 'Cache-Control': 'private, no-cache', 'Content-Security-Policy': "sandbox; default-src 'none'" };
  if (hasTag(request.header('if-none-match'), tag)) return { status: 304, headers };
  return { headers, contentType: 'image/webp', bytes: await context.pagePictures.picture(found, Number(number), width, request.signal) };
}

async function chunks(context: DatasetContext, request: Request): Promise<ChunkList> {
  const { limit = CHUNKS, cursor } = request.query as ChunksQuery;
  const from = Number(cursor ?? 0);
  const found = await fileOf(context, request);
  const list = await context.datasets.chunks(...datasetPlace(request), found.hash, { from, limit });
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return {
    chunks: list.map(({ id, text, metadata }) => ({
      id,
      text,
      page: number(metadata.page),
      start: number(metadata.start_position),
      end: number(metadata.end_position),
      metadata,
    })),
    next: list.length < limit ? null : String(from + list.length),
    // A damaged file has its chunks nevertheless.
    pages: await context.pagePictures.count(found, request.signal).catch(() => null),
  };
}

/** The endpoints for the files of a dataset. */
export const datasetFileEndpoints: Endpoint<DatasetContext>[] = [
  endpoint<DatasetContext>({
    method: 'GET',
    path: FILE,
    id: 'dataset_data_read',
    access: 'members',
    summary: 'Read a file as it was uploaded',
    tag: 'datasets',
    query: 'core/datasets#FileReadQuery',
    mediaTypes: FILE_MEDIA_TYPES,
    handler: async (context, request) => {
      const { hash, file } = await fileOf(context, request);
      return fileAnswer({ ...file, hash }, request, request.query.download === true);
    },
  }),
  endpoint<DatasetContext>({
    method: 'GET',
    path: `${FILE}/pages/{page}`,
    id: 'dataset_data_page',
    access: 'members',
    summary: 'One page of a PDF, or an image, as a picture',
    tag: 'datasets',
    query: 'core/datasets#PageQuery',
    mediaTypes: ['image/webp'],
    handler: page,
  }),
  endpoint<DatasetContext>({
    method: 'GET',
    path: `${FILE}/chunks`,
    id: 'dataset_data_chunks',
    access: 'members',
    summary: 'The chunks of a file, in their order',
    tag: 'datasets',
    query: 'core/datasets#ChunksQuery',
    response: 'core/datasets#ChunkList',
    handler: async (context, request) => ({ json: await chunks(context, request) }),
  }),
  endpoint<DatasetContext>({
    method: 'POST',
    path: `${DATASET}/data`,
    id: 'dataset_data_upload',
    access: 'writers',
    summary: 'Upload a file to a dataset',
    tag: 'datasets',
    tool: 'adds',
    query: 'core/datasets#UploadQuery',
    multipart: { form: 'core/datasets#UploadForm', maxFiles: 1, fileLimitBytes: FILE_BYTES, admit },
    response: 'core/datasets#UploadReply',
    handler: async (context, request) => ({ json: await upload(context, request) }),
  }),
  endpoint<DatasetContext>({
    method: 'POST',
    path: `${DATASET}/data/bulk`,
    id: 'dataset_data_upload_bulk',
    access: 'writers',
    summary: 'Upload up to 100 files to a dataset',
    tag: 'datasets',
    query: 'core/datasets#UploadQuery',
    multipart: { form: 'core/datasets#BulkForm', maxFiles: MAX_BULK_FILES, fileLimitBytes: FILE_BYTES, admit },
    response: 'core/datasets#BulkReply',
    handler: async (context, request) => ({ json: await uploadMany(context, request) }),
  }),
  endpoint<DatasetContext>({
    method: 'DELETE',
    path: FILE,
    id: 'dataset_data_delete',
    access: 'writers',
    summary: 'Take a file and its chunks out of a dataset',
    tag: 'datasets',
    query: 'core/datasets#FileDeleteQuery',
    response: 'core/datasets#FileDeleteReply',
    handler: async ({ datasets }, request) => ({
      json: await datasets.removal.file(...datasetPlace(request), request.params.file_hash!, {
        bytes: request.query.remove_from_disk === true,
      }),
    }),
  }),
];
