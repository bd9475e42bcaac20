import { Failure } from '../../../schemas/errors.js';

/** Where traces go, and what is told. */
export interface OtlpSettings {
  readonly url: string;
  /** By lower-case names; they may hold keys. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of one request. */
  readonly timeoutMs: number;
  /** Attributes of the resource: the service and what the operator adds. */
  readonly resource: Readonly<Record<string, string>>;
  /** Whether what people and models said is told. */
  readonly content: boolean;
  /** Spans that wait at most; later ones are lost. */
  readonly queueSize: number;
  /** Spans of one request. */
  readonly batchSize: number;
  /** How long spans wait for others. */
  readonly delayMs: number;
}

const DEFAULTS = { timeoutMs: 10_000, queueSize: 2_048, batchSize: 512, delayMs: 5_000 } as const;
/** Longer waits, and larger numbers, are typing errors. */
const MOST = 3_600_000;

/**
 * The settings of the OTLP exporter, by OpenTelemetry's environment variables; null where no endpoint is named or traces are switched off. `endpoint` is the
 * base address (`/v1/traces` is added). Throws `bad_request` for an address or a list of headers that is none.
 */
export function otlpSettings(endpoint: string, env: NodeJS.ProcessEnv, version: string): OtlpSettings | null {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  const isOff = /^true$/i.test(env.OTEL_SDK_DISABLED ?? '') || env.OTEL_TRACES_EXPORTER === 'none';
  if (isOff || (!own && endpoint.trim() === '')) return null;
  const url = own ? address('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own) : address('--otlp-endpoint', endpoint.trim());
  if (!own) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  const headers = {
    ...pairs('OTEL_EXPORTER_OTLP_HEADERS', env.OTEL_EXPORTER_OTLP_HEADERS),
    ...pairs('OTEL_EXPORTER_OTLP_TRACES_HEADERS', env.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
  };
  const attributes = pairs('OTEL_RESOURCE_ATTRIBUTES', env.OTEL_RESOURCE_ATTRIBUTES);
  const queueSize = number(env.OTEL_BSP_MAX_QUEUE_SIZE, DEFAULTS.queueSize);
  return {
    url: url.href,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    timeoutMs: number(env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? env.OTEL_EXPORTER_OTLP_TIMEOUT, DEFAULTS.timeoutMs),
    resource: {
      'service.name': 'quern',
      'service.version': version,
      ...attributes,
      ...(env.OTEL_SERVICE_NAME ? { 'service.name': env.OTEL_SERVICE_NAME } : {}),
    },
    content: /^(?:true|1|span_only|span_and_event)$/i.test(env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT ?? ''),
    queueSize,
    batchSize: Math.min(queueSize, number(env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, DEFAULTS.batchSize)),
    delayMs: number(env.OTEL_BSP_SCHEDULE_DELAY, DEFAULTS.delayMs),
  };
}

function address(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new Failure(
    'bad_request',
    `${name} must be the http or https address of an OTLP receiver, such as http://127.0.0.1:4318, not "${text}".`,
  );
}

/** `a=1,b=2`, values encoded as in a URL. */
function pairs(name: string, text: string | undefined): Record<string, string> {
  const found: [string, string][] = [];
  for (const pair of (text ?? '').split(',').filter((one) => one.trim() !== '')) {
    const [, key, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    const decoded = key === undefined ? undefined : decodedValue(value!);
    // Values may be keys, and are not shown.
    if (decoded === undefined)
      throw new Failure('bad_request', `${name} must be a list like name=value,other=value with values encoded as in a URL.`);
    found.push([key!, decoded]);
  }
  return Object.fromEntries(found);
}

function decodedValue(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return /[\r\n\0]/.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}

/** OpenTelemetry asks for the default in place of what is no number. */
function number(text: string | undefined, otherwise: number): number {
  const value = Number(text);
  return Number.isInteger(value) && value > 0 && value <= MOST ? value : otherwise;
}
