import type { ServerResponse } from 'node:http';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { USAGE, type ScriptedRequest, type Step } from './steps.ts';
import { answerOn, azureDi, doclingResult, mistralOcr } from './wires.ts';

/** What is answered to one who asks after a reading: so often that it still runs. */
export interface Poll {
  left: number;
  readonly result: JsonObject;
  readonly running?: JsonObject;
}

export function answerPoll(reply: ServerResponse, poll: Poll | undefined): void {
  if (poll === undefined) {
    sendJson(reply, 404, { error: { code: 'NotFound' } });
    return;
  }
  poll.left -= 1;
  if (poll.left < 0) {
    sendJson(reply, 200, poll.result);
    return;
  }
  reply.setHeader('retry-after', '0');
  sendJson(reply, 200, poll.running ?? { status: 'running' });
}

interface Begun {
  readonly reply: ServerResponse;
  readonly polls: Map<string, Poll>;
}

type Reading = Extract<Step, { do: 'read' | 'read_failed' }>;

/** Takes a file of the wires that are asked after it; false where the wire answers at once. */
export function beginReading(step: Reading, request: ScriptedRequest, { reply, polls }: Begun): boolean {
  const number = polls.size + 1;
  const left = step.do === 'read' ? (step.running ?? 1) : 0;
  if (request.wire === 'azure_di') {
    const path = `/documentintelligence/documentModels/${request.model}/analyzeResults/${number}`;
    const failed = { status: 'failed', error: { code: 'InvalidRequest' } };
    polls.set(path, { left, result: step.do === 'read' ? azureDi(step.pages) : failed });
    const location = `http://${request.headers.host ?? ''}${path}?api-version=2024-11-30`;
    reply.writeHead(202, { 'operation-location': location, 'retry-after': '0' }).end();
    return true;
  }
  if (request.wire !== 'docling') return false;
  const id = `task-${number}`;
  const base = request.path.replace('/convert/source/async', '');
  const state = { task_id: id, task_type: 'convert', task_status: 'pending', task_position: 1 };
  const ended = { ...state, task_status: step.do === 'read' ? 'success' : 'failure' };
  polls.set(`${base}/status/poll/${id}`, {
    left,
    result: ended,
    running: { ...state, task_status: 'started' },
  });
  if (step.do === 'read') polls.set(`${base}/result/${id}`, { left: 0, result: doclingResult(step.pages) });
  reply.setHeader('retry-after', '0');
  sendJson(reply, 200, state);
  return true;
}

const sendJson = (reply: ServerResponse, code: number, body: Json): void => {
  reply.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** What the answer would be, had it not been spoilt. */
const plain = ({ wire, body }: ScriptedRequest): JsonObject =>
  wire === 'mistral_ocr'
    ? mistralOcr([{ markdown: 'spoilt' }])
    : answerOn(wire, { text: '{"spoilt":true}', usage: USAGE, finish: 'stop' }, body);

/** Does one step with the request that it is for. */
export function act(step: Step, request: ScriptedRequest, reply: ServerResponse): void {
  switch (step.do) {
    case 'answer': {
      const text = typeof step.with === 'string' ? step.with : JSON.stringify(step.with);
      const answer = { text, usage: step.usage ?? USAGE, finish: step.finish ?? 'stop' };
      sendJson(reply, 200, answerOn(request.wire, answer, request.body));
      return;
    }
    case 'read': {
      sendJson(reply, 200, mistralOcr(step.pages, request.body));
      return;
    }
    // no OCR wire but Azure's tells it otherwise
    case 'read_failed': {
      sendJson(reply, 422, { detail: 'cannot be read' });
      return;
    }
    case 'status':
      if (step.retryAfter !== undefined) reply.setHeader('retry-after', step.retryAfter);
      // as careless providers do, the body repeats the key
      {
        sendJson(
          reply,
          step.status,
          step.body ?? { error: { message: `key ${request.key} failed`, type: 'error', code: 'error' } },
        );
        return;
      }
    default: {
      spoil(step, request, reply);
      return;
    }
  }
}

type Spoilt = Exclude<Step, { do: 'answer' | 'read' | 'read_failed' | 'status' }>;

function spoil(step: Spoilt, request: ScriptedRequest, reply: ServerResponse): void {
  const whole = JSON.stringify(plain(request));
  switch (step.do) {
    case 'nonsense':
      sendJson(reply, 200, { hello: 'world' });
      return;
    case 'truncate':
      reply.writeHead(200, { 'content-type': 'application/json' }).end(whole.slice(0, whole.length >> 1));
      return;
    case 'html':
      reply.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Please sign in</body></html>');
      return;
    case 'drip': {
      drip(reply, whole, step.everyMs);
      return;
    }
    case 'flood':
      reply.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(step.bytes)}"`);
      return;
    case 'hang':
      return;
    case 'reset':
      reply.socket?.resetAndDestroy();
      return;
    case 'redirect':
      reply.writeHead(307, { location: step.to }).end();
  }
}

function drip(reply: ServerResponse, whole: string, everyMs: number): void {
  reply.writeHead(200, { 'content-type': 'application/json' });
  let at = 0;
  const timer = setInterval(() => {
    if (at < whole.length - 1) reply.write(whole[at]);
    at += 1;
  }, everyMs);
  reply.once('close', () => clearInterval(timer));
}
