import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Request } from 'express';
import { isExpected } from '../../../src/server/app.ts';
import { readJson } from '../../../src/server/jsonBody.ts';
import { receiveUpload, receiveBytes } from '../../../src/server/files.ts';

type Read = (request: IncomingMessage, dir: string) => Promise<unknown>;

const FORM = 'multipart/form-data; boundary=b';
const READERS: Readonly<Record<string, readonly [type: string, read: Read]>> = {
  'a JSON body': ['application/json', (request) => readJson(request)],
  'a form': [FORM, (request, dir) => receiveUpload(request, { dir, bytesMax: 1_000 })],
  'a file': ['text/plain', (request, dir) => receiveBytes(request, { dir, bytesMax: 1_000 })],
};

/** Sends half a request and leaves; gives what reading it ended with. `late`: read after the caller left. */
const cutOff = async ([type, read]: readonly [string, Read], dir: string, late: boolean) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\n--b\r\n`);
  const [request] = (await once(server, 'request')) as [Request];
  const closed = new Promise<void>((resolve) => request.once('close', resolve));
  // Whoever waits for something else first, as for the look-up of a key, comes too late to hear of the end.
  request.on('error', () => undefined);
  const leave = async () => {
    socket.destroy();
    await closed;
  };
  if (late) await leave();
  const outcome = read(request, dir).then(
    () => 'read',
    (error: unknown) => (isExpected(error, request) ? 'expected' : error),
  );
  if (!late) await leave();
  server.close();
  return outcome;
};

describe('a caller that goes away while its body is read', () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'quire-left-'));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  for (const [what, reader] of Object.entries(READERS))
    for (const late of [false, true])
      it(`is no failure of ours: ${what}, ${late ? 'before we begin' : 'in its midst'}`, async () => {
        expect(await cutOff(reader, dir, late)).to.equal('expected');
        expect(await readdir(dir)).to.deep.equal([]);
      });
});
