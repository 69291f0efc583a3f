import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { fileAt } from '../../sdk/src/files.ts';
import { isProblem, NoResultError, Quire } from '../../sdk/src/index.ts';
import { errorOf } from '../../sdk/src/problemError.ts';
import type { Operation, Progress } from '../../sdk/src/index.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { until } from '../../engine/test/support/until.ts';
import { INVOICE, INVOICE_SCHEMA } from '../http/support/client.ts';
import { testApi, type TestApi } from '../http/support/testApi.ts';
import { withBrowserRequests } from './browserRequests.ts';

const SCHEMA = JSON.parse(INVOICE_SCHEMA) as object;
const RESULT = { invoice_number: 'Q-1001', total: 120.5 };

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );

describe('the client', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const newQuire = async () => {
    const tenant = `sdk-${randomUUID()}`;
    return { tenant, quire: new Quire({ url: `${api.url}/`, key: await api.newKey(tenant), tenant }) };
  };

  const drained = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = (): void => void (isOver = true);
    work.then(over, over);
    await until(async () => {
      await api.batches.look();
      await api.operations.drain();
      return isOver;
    }, 20);
    return work;
  };

  it('lists what is wrong with a request, as services say it now and as they said it before', async () => {
    const { quire } = await newQuire();
    const error = await thrownBy(quire.api.createBatch({ body: { documents: [] } as never }));
    if (!isProblem(error, 'validation_error')) throw error;
    expect(error.message).to.match(/^validation_error: body\..*: /);
    expect(error.issues).to.deep.equal(error.problem.errors);
    const issue = { loc: ['body', 'x'], msg: 'Unknown member.', type: 'extra_forbidden' };
    const before = { code: 'validation_error', title: 'No', status: 422, detail: [issue] };
    const answer = new Response(JSON.stringify(before), {
      status: 422,
      headers: { 'content-type': 'application/json' },
    });
    expect(await errorOf(answer))
      .to.have.property('issues')
      .that.deep.equals([issue]);
  });

  it('extracts and converts, from a blob, from bytes and from a file with its name', async () => {
    const { quire } = await newQuire();
    const folder = tempFolder();
    const path = folder.file('note.txt', await INVOICE.text());
    const file = await fileAt(path);
    expect(file.name).to.equal('note.txt');
    const named = await quire.extract({ file, schema: SCHEMA, mode: 'fast' });
    expect(named.result).to.deep.equal(RESULT);
    expect(named.meta.file_name).to.equal('note.txt');
    const bytes = new Uint8Array(await INVOICE.arrayBuffer());
    expect((await quire.extract({ file: bytes, schema: INVOICE_SCHEMA })).result).to.deep.equal(RESULT);
    const { plain_text } = await quire.toMarkdown({ file: INVOICE, include: 'blocks' });
    expect(plain_text).to.contain('Acme GmbH');
    expect(await thrownBy(fileAt(join(folder.path, 'none')))).to.have.property('code', 'ENOENT');
    folder.remove();
  });

  it('works for the tenant that it was made for, with a key for all', async () => {
    const tenant = `sdk-${randomUUID()}`;
    const key = await api.newKey(tenant, 'service');
    const quire = new Quire({ url: api.url, key, tenant });
    const { tenant_id, operation_id } = await quire.extractLater({ file: INVOICE, schema: SCHEMA });
    expect(tenant_id).to.equal(tenant);
    expect((await quire.operations.cancel(operation_id)).tenant_id).to.equal(tenant);
  });

  it('tells problems by their codes, with the members of each', async () => {
    const stranger = new Quire({ url: api.url, key: 'wrong' });
    expect(isProblem(await thrownBy(stranger.api.getBillingRates()), 'invalid_api_key')).to.equal(true);
    const { quire } = await newQuire();
    const long = new Blob(['Lorem ipsum dolor sit amet.\n'.repeat(60 * 120)]);
    const error = await thrownBy(quire.extract({ file: long, schema: SCHEMA }));
    expect(isProblem(error)).to.equal(true);
    expect(isProblem(error, 'rate_limited', 'busy')).to.equal(false);
    if (!isProblem(error, 'insufficient_credits', 'rate_limited')) throw error;
    expect(error).to.include({ code: 'insufficient_credits', status: 403, name: 'ProblemError' });
    expect(error.message).to.match(/^insufficient_credits: /);
    if (error.problem.code === 'insufficient_credits')
      expect(error.problem.required_credits).to.be.above(error.problem.available_credits ?? 0);
    expect(isProblem(new Error('insufficient_credits'))).to.equal(false);
  });

  it('filters, searches and sorts a list', async () => {
    const { quire, tenant } = await newQuire();
    for (const credits of [500, 700, 900]) await api.sell(tenant, credits);
    const path = { tenant_id: tenant };
    const sorted = await quire.api.listGrants({ path, query: { sort: '-credits' } });
    expect(sorted.items.map(({ credits }) => credits)).to.deep.equal([900, 700, 500]);
    const some = await quire.api.listGrants({ path, query: { filter: { kind: 'sale', credits: '700' } } });
    expect([some.total, some.items[0]?.credits]).to.deep.equal([1, 700]);
    const found = await quire.api.listGrants({ path, query: { q: String(some.items[0]?.grant_id) } });
    expect(found.items).to.deep.equal(some.items);
  });

  it('iterates over a list page by page, from an offset, and over an empty one', async () => {
    const { quire, tenant } = await newQuire();
    for (const credits of [1000, 2000, 3000, 4000, 5000]) await api.sell(tenant, credits);
    const creditsOf = async (query: { limit: number; offset?: number }) => {
      const found: number[] = [];
      for await (const grant of quire.lists.listGrants({ path: { tenant_id: tenant }, query }))
        found.push(grant.credits);
      return found.sort((a, b) => a - b);
    };
    expect(await creditsOf({ limit: 2 })).to.deep.equal([1000, 2000, 3000, 4000, 5000]);
    expect(await creditsOf({ limit: 5 })).to.have.length(5);
    expect(await creditsOf({ limit: 2, offset: 3 })).to.have.length(2);
    for await (const operation of quire.lists.listOperations({ query: { tenant_id: tenant } }))
      expect.fail(operation.operation_id);
  });

  describe('with work that goes on', () => {
    it('waits for the result and tells each state', async () => {
      const { quire } = await newQuire();
      const operation = await quire.extractLater({ file: INVOICE, schema: SCHEMA });
      expect(operation.status).to.equal('queued');
      const states: Operation['status'][] = [];
      const ended = await drained(
        quire.operations.wait(operation, { onProgress: ({ status }) => states.push(status) }),
      );
      expect(ended.status).to.equal('succeeded');
      expect(states.at(-1)).to.equal('succeeded');
      const { result } = await quire.operations.result<{ result: object }>(operation.operation_id);
      expect(result).to.deep.equal(RESULT);
      const converted = await quire.toMarkdownLater({ file: INVOICE });
      expect(await drained(quire.operations.result(converted))).to.have.property('markdown');
    });

    it('throws the problem that the call would have thrown', async () => {
      const { quire } = await newQuire();
      const schema = { type: 'object', properties: { iban: { type: 'string' } }, required: ['iban'] };
      const operation = await quire.extractLater({ file: INVOICE, schema });
      const error = await thrownBy(drained(quire.operations.result(operation)));
      expect(isProblem(error, 'output_schema_mismatch')).to.equal(true);
    });

    it('says that an operation was cancelled, and stops waiting with the signal', async () => {
      const { quire } = await newQuire();
      const { operation_id } = await quire.extractLater({ file: INVOICE, schema: SCHEMA });
      const stop = new AbortController();
      const stopped = thrownBy(quire.operations.wait(operation_id, { signal: stop.signal }));
      stop.abort(new Error('enough'));
      expect(await stopped).to.have.property('message', 'enough');
      await quire.operations.cancel(operation_id);
      const error = await thrownBy(quire.operations.result(operation_id));
      expect(error)
        .to.be.instanceOf(NoResultError)
        .and.have.property('message', `${operation_id} was cancelled`);
    });
  });

  it('waits for a batch and reads the results in order', async () => {
    const { quire } = await newQuire();
    const file_uris: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const file = new File([`Invoice number: ${name}-1\nTotal: 1.00 EUR\n`], `${name}.txt`);
      file_uris.push((await quire.uploads.send(file)).file_uri);
    }
    const batch = await quire.api.createBatch({ body: { file_uris, schema: SCHEMA } });
    const ended = await drained(quire.batches.wait(batch));
    expect(ended.status).to.equal('ended');
    const numbers: unknown[] = [];
    for await (const { index, status, result } of quire.batches.results(batch)) {
      expect(index).to.equal(numbers.length);
      expect(status).to.equal('succeeded');
      numbers.push((result as { result: { invoice_number: string } }).result.invoice_number);
    }
    expect(numbers).to.deep.equal(['a-1', 'b-1', 'c-1']);
    const other = await newQuire();
    expect(isProblem(await thrownBy(other.quire.batches.results(batch).next()), 'batch_not_found')).to.equal(
      true,
    );
  });

  describe('with uploads', () => {
    const file = new File([INVOICE], 'note.txt', { type: 'text/plain' });

    const uploaded = async (quire: Quire) => {
      const told: Progress[] = [];
      const { file_uri } = await quire.uploads.send(file, { onProgress: (progress) => told.push(progress) });
      expect(told.at(-1)).to.deep.equal({ sentBytes: file.size, totalBytes: file.size });
      const { total_pages } = await quire.api.countPages({ body: { documents: [{ file_uri }] } });
      expect(total_pages).to.equal(1);
    };

    it('sends a file through presign and tells how much was sent', async () => {
      const { quire } = await newQuire();
      await uploaded(quire);
    });

    it('sends it through what a browser has', async () => {
      const { quire } = await newQuire();
      await withBrowserRequests(async (sent) => {
        await uploaded(quire);
        expect(sent).to.deep.equal([200]);
      });
    });

    it('removes it, and needs a tenant', async () => {
      const { quire } = await newQuire();
      const { document_id, file_uri } = await quire.uploads.send(file);
      await quire.uploads.remove(document_id);
      const { items } = await quire.api.countPages({ body: { documents: [{ file_uri }] } });
      expect(items[0]).to.have.property('status').that.is.not.equal('ok');
      const nobody = new Quire({ url: api.url, key: 'any' });
      expect(await thrownBy(nobody.uploads.send(file))).to.be.instanceOf(TypeError);
      const admin = new Quire({ url: api.url, key: ADMIN_KEY });
      const place = await admin.uploads.send(file, { tenant_id: 'named-for-one' });
      await admin.uploads.remove(place.document_id);
    });

    it('throws what the service says of the file', async () => {
      const { quire } = await newQuire();
      const empty = new File([], 'none.txt', { type: 'text/plain' });
      expect(isProblem(await thrownBy(quire.uploads.send(empty)))).to.equal(true);
    });
  });
});
