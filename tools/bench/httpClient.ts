import { connect, type Socket } from 'node:net';
import { seededRandom } from '../../engine/test/support/random.ts';
import { closedLoop, type Run } from '../../engine/test/bench/measure.ts';

/** What one timed run asks for. It travels to the client's process as JSON. */
export interface HttpLoad {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Requests of the run; without it, as many as there is time for. */
  readonly units?: number;
  readonly seed: number;
  /** Tenants, and the keys that they ask with; '' for none. */
  readonly tenants: readonly { readonly id: string; readonly key: string }[];
  /** `{tenant}` and `{n}` (a number never used before) are filled in. */
  readonly request: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body: string };
  /** Makes `{n}` different in every run. */
  readonly run: string;
}

/** What came of it. `answered` counts 200s by tenant, in the order of `tenants`. */
export interface HttpRun extends Run {
  readonly failed: number;
  readonly answered: readonly number[];
  readonly firstFailure: string;
}

const HEAD_END = Buffer.from('\r\n\r\n');

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Bytes of the whole answer at the front of `bytes`; undefined until it is there. */
const answerIn = (bytes: Buffer): Answer | undefined => {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${head}`);
  const end = headEnd + HEAD_END.length + Number(length);
  if (bytes.length < end) return undefined;
  return { status: Number(head.slice(9, 12)), text: bytes.toString('utf8', headEnd + HEAD_END.length, end) };
};

/** One kept connection, one request at a time. */
const connection = async (url: URL) => {
  const socket: Socket = connect(Number(url.port), url.hostname).setNoDelay(true);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  let bytes: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const answer = answerIn(bytes);
    if (answer === undefined) return;
    bytes = Buffer.alloc(0);
    waiting?.resolve(answer);
  });
  const fail = (error: Error) => waiting?.reject(error);
  socket.on('error', fail).on('close', () => fail(new Error('the connection was closed')));
  return {
    ask: (request: string) =>
      new Promise<Answer>((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
};

const requestText = (
  { url, request: { method, path, body } }: HttpLoad,
  { id, key }: HttpLoad['tenants'][number],
  unique: string,
): string => {
  const filled = (text: string) => text.replace('{tenant}', id).replace('{n}', unique);
  const sent = filled(body);
  const headers = [
    `${method} ${filled(path)} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    ...(key === '' ? [] : [`x-api-key: ${key}`]),
    ...(sent === '' ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(sent)}`]),
  ];
  return `${headers.join('\r\n')}\r\n\r\n${sent}`;
};

/** So many connections, each asking again as soon as it is answered; tenants at random. */
export const runLoad = async (load: HttpLoad): Promise<HttpRun> => {
  const url = new URL(load.url);
  const all = Array.from({ length: load.connections }, () => connection(url));
  const connections = await Promise.all(all);
  const random = seededRandom(load.seed);
  const answered = load.tenants.map(() => 0);
  let failed = 0;
  let firstFailure = '';
  const { connections: inFlight, seconds, units } = load;
  const limits = { inFlight, seconds, ...(units === undefined ? {} : { units }) };
  const result = await closedLoop(limits, async (id, turn) => {
    const index = random.between(0, load.tenants.length - 1);
    const text = requestText(load, load.tenants[index]!, `${load.run}-${id}-${turn}`);
    const answer = await connections[id]!.ask(text);
    if (answer.status === 200) answered[index]! += 1;
    else {
      failed += 1;
      firstFailure ||= `${answer.status} ${answer.text.slice(0, 300)}`;
    }
  });
  for (const one of connections) one.close();
  return { ...result, failed, answered, firstFailure };
};
