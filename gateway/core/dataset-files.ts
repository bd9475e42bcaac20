import type { AddedFile } from '../../runtime/library/datasets/datasets.js';
import { FILE_BYTES, MAX_BULK_FILES } from '../../runtime/library/datasets/limits.js';
import { parseOverrides } from '../../runtime/library/datasets/overrides.js';
import { type Endpoint, endpoint, type FormBody, type Request, type UploadedFile } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { BulkReply, UploadReply } from '../../schemas/generated/core/datasets.js';
import { DATASET, type DatasetContext, place } from './dataset-place.js';

/** Refuses an upload to a dataset that does not exist before its bytes are read. */
const admit: FormBody<DatasetContext>['admit'] = ({ datasets }, request) => {
  datasets.find(...place(request));
  return undefined;
};

/** What an upload asks for besides storing; checked before anything is kept. */
function wishOf({ datasets }: DatasetContext, request: Request): { process: boolean; overrides: unknown } {
  const { dataset } = datasets.find(...place(request));
  const overrides = parseOverrides((request.body as { parser_overrides?: string }).parser_overrides);
  datasets.processing.checked(...place(request), overrides);
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
  const result = await datasets.add(...place(request), file);
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
  const id = await datasets.processing.start(...place(request), { hashes: [file.sha256], overrides });
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
      const result = await datasets.add(...place(request), file, together);
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
  return { ...reply, task_id: await datasets.processing.start(...place(request), { hashes, overrides }), status: 'processing' };
}

/** The endpoints for the files of a dataset. */
export const datasetFileEndpoints: Endpoint<DatasetContext>[] = [
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
    path: `${DATASET}/data/{file_hash}`,
    id: 'dataset_data_delete',
    access: 'writers',
    summary: 'Take a file and its chunks out of a dataset',
    tag: 'datasets',
    query: 'core/datasets#FileDeleteQuery',
    response: 'core/datasets#FileDeleteReply',
    handler: async ({ datasets }, request) => ({
      json: await datasets.removal.file(...place(request), request.params.file_hash!, { bytes: request.query.remove_from_disk === true }),
    }),
  }),
];
