import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { until } from '../../engine/test/support/until.ts';

/** undefined: it can be started. */
export const whyNoDovecot = (): string | undefined =>
  spawnSync('dovecot', ['--version']).status === 0
    ? undefined
    : 'dovecot is not installed (apt-get install dovecot-imapd)';

export const PASSWORD = 'a-password-for-specs';

/** Who the server runs as: dovecot refuses mails of root. */
interface Runner {
  readonly username: string;
  readonly group: string;
  readonly uid: number;
  readonly gid: number;
}
const NOBODY: Runner = { username: 'nobody', group: 'nogroup', uid: 65_534, gid: 65_534 };

const runner = (): Runner => {
  const { uid, gid, username } = userInfo();
  return uid === 0 ? NOBODY : { username, group: username, uid, gid };
};

/** Everything as one user without rights, below one folder. */
const settings = (folder: string, port: number, { username, group, uid, gid }: Runner): string => `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
mail_location = maildir:${folder}/mail/%u
default_login_user = ${username}
default_internal_user = ${username}
default_internal_group = ${group}
first_valid_uid = 1
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${String(uid)} gid=${String(gid)} home=${folder}/mail/%u
}
service imap-login {
  chroot =
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${String(port)}
    ssl = yes
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
`;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

export interface Dovecot {
  /** Of the door: the port that programs connect to. */
  readonly port: number;
  /** The certificate, as an authority. */
  readonly ca: string;
  /** Called whenever something passes the door. */
  tell: () => void;
  /** Nobody gets through the door while it is closed. */
  isOpen: boolean;
  readonly stop: () => Promise<void>;
}

const started = async (folder: string): Promise<{ readonly child: ChildProcess; readonly port: number }> => {
  const { uid, gid } = runner();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const port = await freePort();
    const path = join(folder, 'dovecot.conf');
    writeFileSync(path, settings(folder, port, runner()));
    const child = spawn('dovecot', ['-F', '-c', path], { stdio: 'ignore', uid, gid });
    // Another process may have taken the port: then it ends, and the next attempt has another one.
    await until(async () => child.exitCode !== null || isListening(port));
    if (child.exitCode === null) return { child, port };
  }
  throw new Error(`dovecot does not start:\n${readFileSync(join(folder, 'log'), 'utf8')}`);
};

/** A real IMAP server with TLS and empty mailboxes, behind a door that tells who passes and can be closed. */
export const startDovecot = async (folder: string): Promise<Dovecot> => {
  const ca = join(folder, 'cert.pem');
  mkdirSync(join(folder, 'mail'), { recursive: true });
  const certificate =
    '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
  const names = '-addext subjectAltName=IP:127.0.0.1,DNS:localhost';
  const files = ['-keyout', join(folder, 'key.pem'), '-out', ca];
  execFileSync('openssl', ['req', ...certificate.split(' '), ...names.split(' '), ...files], {
    stdio: 'ignore',
  });
  const { uid, gid } = runner();
  for (const path of ['.', 'mail', 'key.pem', 'cert.pem']) chownSync(join(folder, path), uid, gid);
  const { child, port: behind } = await started(folder);
  const sockets = new Set<Socket>();
  const door: Server = createServer((outer) => {
    if (!dovecot.isOpen) return void outer.destroy();
    const inner = connect(behind, '127.0.0.1');
    for (const [from, to] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        dovecot.tell();
        to.write(bytes);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  let open = true;
  const dovecot: Dovecot = {
    port: (door.address() as AddressInfo).port,
    ca,
    tell: () => undefined,
    get isOpen() {
      return open;
    },
    set isOpen(value: boolean) {
      open = value;
      if (!open) for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      dovecot.isOpen = false;
      door.close();
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
  return dovecot;
};
