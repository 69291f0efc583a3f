import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startS3, type S3Server } from './s3Server.ts';

/** An S3 server whose bucket has object lock, or was made without. */
export interface LockedS3 extends S3Server {
  /** Until when each object is retained. */
  readonly retained: ReadonlyMap<string, string>;
}

const CONFIG =
  '<ObjectLockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
  '<ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>';
const errorXml = (code: string): string => `<Error><Code>${code}</Code><Message>${code}</Message></Error>`;

const bodyOf = async (incoming: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return text;
};

const answer = (response: ServerResponse, status: number, xml: string): void => {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(xml);
};

const retentionIn = (xml: string): string | undefined =>
  /<Mode>COMPLIANCE<.*<RetainUntilDate>([^<]+)</.exec(xml)?.[1];

/** What a bucket with object lock does beside storing: `?object-lock`, `?retention`, no change before its time. */
const lockRules = (hasLock: boolean, retained: Map<string, string>) => {
  const isHeld = (path: string) => (retained.get(path) ?? '') > new Date().toISOString();
  const retain = async (path: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const until = hasLock ? retentionIn(await bodyOf(incoming)) : undefined;
    if (until !== undefined) retained.set(path, until);
    answer(response, until !== undefined ? 200 : 400, '');
  };
  /** False: it is for the server behind. */
  return async (incoming: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://s3');
    if (searchParams.has('object-lock')) {
      if (hasLock) answer(response, 200, CONFIG);
      else answer(response, 404, errorXml('ObjectLockConfigurationNotFoundError'));
      return true;
    }
    if (searchParams.has('retention') && incoming.method === 'PUT') {
      await retain(pathname, incoming, response);
      return true;
    }
    if (!isHeld(pathname) || !['DELETE', 'PUT'].includes(incoming.method ?? '')) return false;
    incoming.resume();
    answer(response, 403, errorXml('AccessDenied'));
    return true;
  };
};

/** The embedded S3 server of specs, behind the rules of object lock, which it does not have. */
export const startLockedS3 = async ({ hasLock }: { readonly hasLock: boolean }): Promise<LockedS3> => {
  const behind = await startS3();
  const retained = new Map<string, string>();
  const rules = lockRules(hasLock, retained);
  const { hostname, port: portBehind } = new URL(behind.options.endpoint);
  const server = createServer((incoming, response) => {
    void rules(incoming, response).then((isDone) => {
      if (isDone) return;
      const { method, url: path, headers } = incoming;
      const onward = request({ hostname, port: portBehind, method, path, headers }, (back) => {
        response.writeHead(back.statusCode ?? 500, back.headers);
        back.pipe(response);
      });
      incoming.pipe(onward);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    ...behind,
    retained,
    options: { ...behind.options, endpoint },
    env: { ...behind.env, S3_ENDPOINT: endpoint },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await behind.close();
    },
  };
};
