import { expect } from 'chai';
import type { SaleRejection } from '../../src/commands/sales.ts';
import type { NotNow } from '../../src/writer/decideBatch.ts';
import { problemsOf, routesOver } from '../../src/server/routes.ts';
import { SALE_REJECTIONS } from '../../src/api/schemas/rejections.ts';

type Said =
  | { readonly kind: 'done' }
  | { readonly kind: 'rejected'; readonly rejection: SaleRejection }
  | NotNow;

const said = (): Said => ({ kind: 'done' });

const OF_SALES = [
  'currency_not_offered',
  'ambiguous_minor_units',
  'price_list_version_unknown',
  'idempotency_key_reused',
] as const;

const { post } = routesOver<undefined>();

/** Checked by the compiler: a route that does not list what its command can say is an error of types. */
describe('the problems that a route lists', () => {
  const spec = { summary: 'Spec', access: 'any', reply: { status: 204 } } as const;

  it('are all that its command is refused with', () => {
    const route = post(
      '/v1/spec',
      {
        ...spec,
        problems: [...OF_SALES, 'price_mismatch', 'busy'],
      },
      ({ doneOr }) => {
        doneOr(said(), SALE_REJECTIONS);
        return Promise.resolve(undefined);
      },
    );
    expect(problemsOf(route)).to.include.members([...OF_SALES, 'price_mismatch', 'busy', 'internal_error']);
  });

  it('do not compile where one of them is left out', () => {
    const route = post(
      '/v1/spec',
      {
        ...spec,
        problems: [...OF_SALES, 'busy'],
      },
      ({ doneOr }) => {
        // @ts-expect-error -- price_mismatch is not listed
        doneOr(said(), SALE_REJECTIONS);
        return Promise.resolve(undefined);
      },
    );
    expect(problemsOf(route)).to.not.include('price_mismatch');
  });

  it('stand among members that routes have: another does not compile', () => {
    const facts = { ...spec, problem: ['busy'] } as const;
    // @ts-expect-error -- the member is `problems`
    const route = post('/v1/spec', facts, () => Promise.resolve(undefined));
    expect(problemsOf(route)).to.not.include('busy');
  });

  it('do not compile without busy where a command may be sent again', () => {
    const route = post(
      '/v1/spec',
      {
        ...spec,
        problems: [...OF_SALES, 'price_mismatch'],
      },
      ({ doneOr }) => {
        // @ts-expect-error -- busy is not listed
        doneOr(said(), SALE_REJECTIONS);
        return Promise.resolve(undefined);
      },
    );
    expect(problemsOf(route)).to.not.include('busy');
  });
});
