import { connect, type Socket } from 'node:net';

/** What came back on a connection until it was closed, by whichever side. */
export interface Heard {
  readonly text: string;
  /** The status of each answer, in order; interim ones too. */
  readonly statuses: readonly number[];
  /** True when the server ended the connection before we did. */
  readonly closedByServer: boolean;
}

export interface RawOptions {
  /** How many answers to wait for; then the connection is closed by us. Left out: until the server closes. */
  readonly answers?: number;
  /** Longest wait, ms; then we close. */
  readonly patienceMs?: number;
  /** Called once connected, instead of sending everything at once. */
  readonly send?: (socket: Socket) => void;
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;

const statusesIn = (text: string): readonly number[] =>
  [...text.matchAll(STATUS_LINE)].map(([, status]) => Number(status));

/** Sends bytes as they are: nothing of a client's own sense of HTTP is in between. */
export const sendRaw = (url: string, bytes: string, options: RawOptions = {}): Promise<Heard> => {
  const { answers, patienceMs = 30_000, send } = options;
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    let closedByUs = false;
    const leave = () => {
      closedByUs = true;
      socket.destroy();
    };
    const timer = setTimeout(leave, patienceMs);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (answers !== undefined && statusesIn(text).length >= answers) leave();
    });
    // A server that cuts us off while we send resets the connection: that is an outcome, not a failure.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve({ text, statuses: statusesIn(text), closedByServer: !closedByUs });
    });
    socket.once('connect', () => {
      if (bytes !== '') socket.write(bytes, 'latin1');
      send?.(socket);
    });
  });
};
