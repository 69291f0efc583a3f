import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { ImapFlow } from 'imapflow';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { until } from '../../engine/test/support/until.ts';
import { client as httpClient } from '../http/support/client.ts';
import { runCommand, startCommand } from '../support/quireCommand.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { type Dovecot, PASSWORD, startDovecot, whyNoDovecot } from './dovecot.ts';
import { answered, invoice, numberOf, resultAt, SCHEMA, seeded, startBetween } from './killed.ts';

const MAILS = 5;
const KILLS = 10;
const missing = whyNoDovecot();

interface Attached {
  readonly name: string;
  readonly text: string;
}

const mail = (subject: string, text: string, attached: readonly Attached[]): string =>
  [
    'From: Anna <anna@example.org>',
    'To: scans@example.org',
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=part',
    '',
    '--part',
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
    ...attached.flatMap((one) => [
      '--part',
      'Content-Type: text/plain; charset=utf-8',
      `Content-Disposition: attachment; filename="${one.name}"`,
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from(one.text).toString('base64'),
    ]),
    '--part--',
    '',
  ].join('\r\n');

const attachedTo = (n: number): readonly Attached[] =>
  [2 * n, 2 * n + 1].map((number) => ({ name: `invoice ${String(number)}.txt`, text: invoice(number) }));

describe('quire watch of a mailbox', () => {
  if (missing !== undefined) return void it(`is left out: ${missing}`);
  let temp: TempFolder;
  let mailTemp: TempFolder;
  let service: ServiceProcess;
  let dovecot: Dovecot;
  let schema: string;
  let env: Readonly<Record<string, string>>;
  before(async () => {
    temp = tempFolder();
    mailTemp = tempFolder();
    schema = temp.file('schema.json', JSON.stringify(SCHEMA));
    dovecot = await startDovecot(mailTemp.path);
    service = await startService(join(temp.path, 'data'));
  });
  after(async () => {
    await service.stop('SIGKILL');
    await dovecot.stop();
    temp.remove();
    mailTemp.remove();
  });

  beforeEach(() => {
    dovecot.isOpen = true;
  });

  const tenant = async (tenant_id: string) => {
    const api = httpClient(service.url);
    const QUIRE_API_KEY = await answered(() => api.newKey(tenant_id));
    env = {
      QUIRE_URL: service.url,
      QUIRE_API_KEY,
      WATCH_IMAP_PASSWORD: PASSWORD,
      NODE_EXTRA_CA_CERTS: dovecot.ca,
    };
    const out = join(temp.path, tenant_id);
    mkdirSync(out);
    const billed = async () => {
      const { body } = await answered(() => api.call('get', `/v1/billing/balance/${tenant_id}`));
      return { used: 50 - Number(body['free_pages_remaining']), held: Number(body['held_credits']) };
    };
    return { out, billed };
  };

  const as = async <T>(user: string, work: (client: ImapFlow) => Promise<T>): Promise<T> => {
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: dovecot.port,
      secure: true,
      auth: { user, pass: PASSWORD },
      tls: { rejectUnauthorized: false },
      logger: false,
    });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.logout();
    }
  };
  const arrive = (user: string, ...mails: readonly string[]) =>
    as(user, async (client) => {
      for (const text of mails) await client.append('INBOX', Buffer.from(text));
    });
  const uidsIn = (user: string, mailbox: string) =>
    as(user, async (client) => {
      await client.mailboxOpen(mailbox, { readOnly: true });
      return client.search({ all: true }, { uid: true });
    });
  const unseenIn = (user: string) =>
    as(user, async (client) => ((await client.status('INBOX', { unseen: true })) || {}).unseen);

  const addressOf = (user: string, mailbox = '') =>
    `imaps://${user}@127.0.0.1:${String(dovecot.port)}/${mailbox}`;
  const args = (user: string, out: string, ...rest: readonly string[]) => [
    'watch',
    addressOf(user),
    '--out',
    out,
    '--schema',
    schema,
    '--mode',
    'fast',
    '--every',
    '1',
    ...rest,
  ];
  const resultsIn = (out: string): readonly string[] =>
    readdirSync(out, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .sort();
  const numbersIn = (out: string) =>
    resultsIn(out).map((name) => resultAt(join(out, name)).result?.result.invoice_number);

  it('loses nothing and pays for nothing twice, however often it is killed', async () => {
    const { out, billed } = await tenant('killed');
    await arrive(
      'killed',
      ...Array.from({ length: MAILS }, (_, n) => mail(`Invoices ${String(n)}`, 'See below.', attachedTo(n))),
      mail('Invoice', invoice(2 * MAILS), []),
    );
    const random = seeded(48);
    let left = Infinity;
    let door: 'mail' | 'service' = 'mail';
    let kill = (): void => undefined;
    const passed = (through: 'mail' | 'service'): void => {
      if (through === door && (left -= 1) === 0) kill();
    };
    const between = await startBetween(service.url, () => passed('service'));
    dovecot.tell = () => passed('mail');
    const url = `http://127.0.0.1:${String((between.address() as AddressInfo).port)}`;
    let kills = 0;
    while (kills < KILLS) {
      door = random() < 0.5 ? 'mail' : 'service';
      left = 1 + Math.floor(random() * (door === 'mail' ? 60 : 12));
      const running = startCommand({ ...env, QUIRE_URL: url }, args('killed', out, '--once'));
      kill = () => void running.child.kill('SIGKILL');
      const { code, err } = await running.done;
      if (code === 0) break;
      expect(code, err).to.equal(null);
      kills += 1;
    }
    left = Infinity;
    dovecot.tell = () => undefined;
    const last = await runCommand({ ...env, QUIRE_URL: url }, ...args('killed', out, '--once'));
    expect(last.code, last.err).to.equal(0);
    between.close();
    expect(kills).to.be.at.least(3);
    const numbers = Array.from({ length: 2 * MAILS + 1 }, (_, n) => numberOf(n));
    expect([...numbersIn(out)].sort()).to.deep.equal(numbers.sort());
    expect(await billed()).to.deep.equal({ used: numbers.length, held: 0 });
    expect(await unseenIn('killed')).to.equal(MAILS + 1);
  });

  it('moves messages that are done, and no others', async () => {
    const { out, billed } = await tenant('moved');
    await as('moved', (client) => client.mailboxCreate('Done'));
    await arrive(
      'moved',
      mail('Two', '', attachedTo(0)),
      mail('Bad', '', [{ name: 'bad.pdf', text: '%PDF-' }]),
    );
    const { code, err } = await runCommand(env, ...args('moved', out, '--once', '--move-to', 'Done'));
    expect(code, err).to.equal(0);
    expect(await uidsIn('moved', 'INBOX')).to.deep.equal([]);
    expect(await uidsIn('moved', 'Done')).to.have.length(2);
    expect(resultsIn(out).map((name) => resultAt(join(out, name)).status)).to.deep.equal([
      'succeeded',
      'succeeded',
      'failed',
    ]);
    expect(await billed()).to.deep.equal({ used: 2, held: 0 });
  });

  it('waits while the server is away, and goes on by itself', async () => {
    const { out } = await tenant('away');
    await arrive('away', mail('First', '', attachedTo(0)));
    dovecot.isOpen = false;
    const running = startCommand(env, args('away', out));
    let said = '';
    running.child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await until(() => Promise.resolve(said.includes('the server is away')));
    dovecot.isOpen = true;
    await until(() => Promise.resolve(resultsIn(out).length === 2));
    dovecot.isOpen = false;
    dovecot.isOpen = true;
    await arrive('away', mail('Second', '', attachedTo(1)));
    await until(() => Promise.resolve(resultsIn(out).length === 4));
    running.child.kill('SIGTERM');
    const { code, err } = await running.done;
    expect(code, err).to.equal(130);
    expect(numbersIn(out)).to.deep.equal([0, 1, 2, 3].map(numberOf));
  });

  it('stops where the server has numbered its messages anew', async () => {
    const { out, billed } = await tenant('renumbered');
    const scans = async (work: 'mailboxCreate' | 'mailboxDelete') =>
      as('renumbered', (client) => client[work]('Scans'));
    const put = () =>
      as('renumbered', (client) => client.append('Scans', Buffer.from(mail('One', '', attachedTo(0)))));
    const given = ['watch', addressOf('renumbered', 'Scans'), ...args('', out, '--once').slice(2)];
    await scans('mailboxCreate');
    await put();
    expect((await runCommand(env, ...given)).code).to.equal(0);
    await scans('mailboxDelete');
    await scans('mailboxCreate');
    await put();
    const { code, err } = await runCommand(env, ...given);
    expect(code).to.equal(1);
    expect(err).to.include('UIDVALIDITY').and.to.include('--out');
    expect(await billed()).to.deep.equal({ used: 2, held: 0 });
  });

  it('says what it lacks', async () => {
    const { out } = await tenant('lacking');
    const ends = async (given: Readonly<Record<string, string>>, ...rest: readonly string[]) => {
      const { code, err } = await runCommand(given, ...rest);
      expect(code, err).to.be.above(0);
      return err;
    };
    const given = (...rest: readonly string[]) => args('lacking', out, '--once', ...rest);
    const { WATCH_IMAP_PASSWORD: _, ...without } = env;
    expect(await ends(without, ...given())).to.include('Set WATCH_IMAP_PASSWORD');
    expect(await ends({ ...env, WATCH_IMAP_PASSWORD: 'wrong' }, ...given())).to.include('refuses the user');
    expect(await ends({ ...env, NODE_EXTRA_CA_CERTS: '' }, ...given())).to.include('certificate');
    expect(await ends(env, ...given('--move-to', 'Nowhere'))).to.include('Nowhere: there is no such mailbox');
    expect(await ends(env, ...given('--move-to', 'INBOX'))).to.include('that is watched');
    expect(await ends(env, 'watch', addressOf('lacking', 'Nowhere'), ...given().slice(2))).to.include(
      'there is no such mailbox',
    );
    expect(await ends(env, 'watch', addressOf('lacking'), '--schema', schema)).to.include('--out');
    writeFileSync(join(out, 'a.txt'), invoice(1));
    expect(await ends(env, 'watch', out, '--schema', schema, '--move-to', 'Done')).to.include('of mailboxes');
  });
});
