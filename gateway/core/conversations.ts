import { createReadStream } from 'node:fs';
import { beginTurn, type TurnAsked } from '../../runtime/conversations/ask.js';
import { FILE_BYTES, readDocument } from '../../runtime/conversations/attachments.js';
import type { Place } from '../../runtime/conversations/records.js';
import { exportedAll, exportedJson, exportedMarkdown, fileNameOf } from '../../runtime/conversations/transfer/export.js';
import { importConversations } from '../../runtime/conversations/transfer/import.js';
import { mimeTypeOf } from '../../runtime/library/datasets/mime.js';
import { isHelpProject } from '../../runtime/projects/cache.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type PiecesReply, type Request, type StreamReply, type UploadedFile } from '../../schemas/endpoint.js';
import type {
  BranchRequest,
  CreateRequest,
  DocumentText,
  EditRequest,
  ExportQuery,
  ImportReply,
  ListQuery,
  PatchRequest,
  ReadQuery,
  TurnRequest,
} from '../../schemas/generated/core/conversations.js';
import { CHAT_BODY_BYTES } from '../http/body.js';
import { parseJsonInTurns } from '../http/json-pieces.js';
import { disposition, FILE_MEDIA_TYPES, fileHeaders } from './file-answer.js';

const CONVERSATIONS = '/v1/projects/{namespace}/{project}/conversations';
const CONVERSATION = `${CONVERSATIONS}/{conversation_id}`;
const MESSAGE = `${CONVERSATION}/messages/{message_id}`;
/** A text of 4 MiB, each of whose letters may be an escape. */
const EDIT_BYTES = CHAT_BODY_BYTES;
/** Of a file that is imported, which holds all that somebody ever said. */
const IMPORT_BYTES = 1024 * 1024 * 1024;
const tag = 'conversations';
const access = 'members';

const placeOf = ({ conversations }: Runtime, { params }: Request): Place => conversations.place(params.namespace!, params.project!);
const idOf = ({ params }: Request): string => params.conversation_id!;

async function turn(runtime: Runtime, request: Request): Promise<StreamReply> {
  const { conversations, chat, help } = runtime;
  const place = placeOf(runtime, request);
  const id = idOf(request);
  const body = request.body as TurnRequest;
  const { namespace, project } = place;
  // An unknown model is refused before anything is stored.
  const { settings } = conversations.shared.records.head(place, id);
  chat.model(namespace, project, body.settings?.model ?? settings.model ?? undefined);
  const active = request.header('x-active-project');
  const open: TurnAsked['open'] = (call, signal) =>
    isHelpProject(namespace, project) ? help.complete(call, active, signal) : chat.complete(call, signal);
  const events = await beginTurn(conversations, place, id, {
    request: body,
    clientId: request.header('idempotency-key') || body.client_id,
    signal: request.signal,
    open,
    addressOf: (file) => `${addressOfFiles(place, id)}/${file}`,
  });
  return { events };
}

/** A file for a client to keep. */
function downloadReply(pieces: AsyncIterable<Uint8Array>, name: string, contentType: string): PiecesReply {
  return { pieces, contentType, headers: { 'Content-Disposition': disposition('attachment', name), 'Cache-Control': 'private, no-cache' } };
}

function exportReply(runtime: Runtime, request: Request): PiecesReply {
  const { records } = runtime.conversations.shared;
  const head = records.head(placeOf(runtime, request), idOf(request));
  const { format = 'json' } = request.query as ExportQuery;
  return format === 'json'
    ? downloadReply(exportedJson(records, head), fileNameOf(head, 'json'), 'application/json')
    : downloadReply(exportedMarkdown(records, head), fileNameOf(head, 'md'), 'text/markdown; charset=utf-8');
}

async function importFile(runtime: Runtime, request: Request): Promise<ImportReply> {
  const place = placeOf(runtime, request);
  const { records } = runtime.conversations.shared;
  const [file] = request.files as [UploadedFile];
  const addressOf = (conversation: string, id: string): string => `${addressOfFiles(place, conversation)}/${id}`;
  const parts = { records, place, signal: request.signal, parse: parseJsonInTurns, addressOf };
  return importConversations(parts, createReadStream(file.path));
}

async function documentText(runtime: Runtime, request: Request): Promise<DocumentText> {
  placeOf(runtime, request);
  const [{ path, name, mimeType, sizeBytes }] = request.files as [UploadedFile];
  return readDocument(runtime.parsing, { path, name, mimeType: mimeTypeOf(name, mimeType), sizeBytes }, request.signal);
}

const addressOfFiles = ({ namespace, project }: Place, id: string): string =>
  `/v1/projects/${namespace}/${project}/conversations/${id}/files`;

/** The conversations of a project: lists, trees of messages, and the turns that add to them. */
export const conversationEndpoints: Endpoint<Runtime>[] = [
  endpoint<Runtime>({
    method: 'GET',
    path: CONVERSATIONS,
    id: 'conversations_list',
    access,
    summary: 'List the conversations of the project',
    tag,
    query: 'core/conversations#ListQuery',
    response: 'core/conversations#ConversationList',
    handler: async (runtime, request) => ({
      json: await runtime.conversations.list(placeOf(runtime, request), request.query as ListQuery),
    }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: CONVERSATIONS,
    id: 'conversation_create',
    access,
    summary: 'Begin a conversation',
    tag,
    body: 'core/conversations#CreateRequest',
    response: 'core/conversations#ConversationReply',
    status: 201,
    handler: async (runtime, request) => {
      const conversation = await runtime.conversations.create(placeOf(runtime, request), request.body as CreateRequest);
      return { status: 201, json: { conversation } };
    },
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${CONVERSATIONS}/export`,
    id: 'conversations_export',
    access,
    summary: 'All conversations of the project, each on a line of JSON',
    tag,
    mediaTypes: ['application/x-ndjson'],
    handler: (runtime, request) =>
      downloadReply(
        exportedAll(runtime.conversations.shared.records, placeOf(runtime, request)),
        `${request.params.project}-conversations.jsonl`,
        'application/x-ndjson',
      ),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${CONVERSATIONS}/import`,
    id: 'conversations_import',
    access,
    summary: 'Take in conversations from a file',
    tag,
    multipart: { form: 'core/conversations#ImportForm', maxFiles: 1, fileLimitBytes: IMPORT_BYTES },
    response: 'core/conversations#ImportReply',
    handler: async (runtime, request) => ({ json: await importFile(runtime, request) }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${CONVERSATIONS}/documents`,
    id: 'conversation_document_read',
    access,
    summary: 'Read the text of a document that a message is to come with',
    tag,
    multipart: { form: 'core/conversations#DocumentForm', maxFiles: 1, fileLimitBytes: FILE_BYTES },
    response: 'core/conversations#DocumentText',
    handler: async (runtime, request) => ({ json: await documentText(runtime, request) }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${CONVERSATION}/branch`,
    id: 'conversation_branch',
    access,
    summary: 'Begin a conversation with what was said up to a message',
    tag,
    body: 'core/conversations#BranchRequest',
    response: 'core/conversations#ConversationReply',
    status: 201,
    handler: async (runtime, request) => {
      const { message } = request.body as BranchRequest;
      return { status: 201, json: { conversation: await runtime.conversations.branch(placeOf(runtime, request), idOf(request), message) } };
    },
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${CONVERSATION}/export`,
    id: 'conversation_export',
    access,
    summary: 'A conversation as a file',
    tag,
    query: 'core/conversations#ExportQuery',
    mediaTypes: ['application/json', 'text/markdown'],
    handler: exportReply,
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: CONVERSATION,
    id: 'conversation_read',
    access,
    summary: 'Read a conversation with its messages',
    tag,
    query: 'core/conversations#ReadQuery',
    response: 'core/conversations#ConversationPage',
    handler: async (runtime, request) => ({
      json: await runtime.conversations.read(placeOf(runtime, request), idOf(request), request.query as ReadQuery),
    }),
  }),
  endpoint<Runtime>({
    method: 'PATCH',
    path: CONVERSATION,
    id: 'conversation_change',
    access,
    summary: 'Rename, pin, archive or set up a conversation',
    tag,
    body: 'core/conversations#PatchRequest',
    response: 'core/conversations#ConversationReply',
    handler: async (runtime, request) => {
      const conversation = await runtime.conversations.change(placeOf(runtime, request), idOf(request), request.body as PatchRequest);
      return { json: { conversation } };
    },
  }),
  endpoint<Runtime>({
    method: 'DELETE',
    path: CONVERSATION,
    id: 'conversation_delete',
    access,
    summary: 'Delete a conversation',
    tag,
    response: 'core/conversations#Deleted',
    handler: async (runtime, request) => {
      await runtime.conversations.delete(placeOf(runtime, request), idOf(request));
      return { json: { message: `Conversation ${idOf(request)} deleted` } };
    },
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${CONVERSATION}/turns`,
    id: 'conversation_turn',
    access,
    summary: 'Ask in a conversation, and read the answer as it is written',
    tag,
    body: 'core/conversations#TurnRequest',
    streams: true,
    bodyLimitBytes: CHAT_BODY_BYTES,
    errorShape: 'by-client',
    handler: turn,
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${CONVERSATION}/stop`,
    id: 'conversation_stop',
    access,
    summary: 'End the answer that is being written',
    tag,
    response: 'core/conversations#StopReply',
    handler: async (runtime, request) => ({
      json: { stopped: await runtime.conversations.stop(placeOf(runtime, request), idOf(request)) },
    }),
  }),
  endpoint<Runtime>({
    method: 'PATCH',
    path: MESSAGE,
    id: 'conversation_message_edit',
    access,
    summary: 'Change the text of an answer',
    tag,
    body: 'core/conversations#EditRequest',
    response: 'core/conversations#MessageReply',
    bodyLimitBytes: EDIT_BYTES,
    handler: async (runtime, request) => {
      const { content } = request.body as EditRequest;
      const { message } = await runtime.conversations.edit(placeOf(runtime, request), idOf(request), request.params.message_id!, content);
      return { json: { message } };
    },
  }),
  endpoint<Runtime>({
    method: 'DELETE',
    path: MESSAGE,
    id: 'conversation_message_delete',
    access,
    summary: 'Delete a message and what hangs below it',
    tag,
    response: 'core/conversations#ConversationReply',
    handler: async (runtime, request) => {
      const conversation = await runtime.conversations.deleteMessage(placeOf(runtime, request), idOf(request), request.params.message_id!);
      return { json: { conversation } };
    },
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${CONVERSATION}/files/{attachment_id}`,
    id: 'conversation_file',
    access,
    summary: 'Read a file that a message came with',
    tag,
    mediaTypes: FILE_MEDIA_TYPES,
    handler: (runtime, request) => {
      const { name, mediaType, bytes } = runtime.conversations.file(
        placeOf(runtime, request),
        idOf(request),
        request.params.attachment_id!,
      );
      return { bytes, ...fileHeaders(name, mediaType) };
    },
  }),
];
