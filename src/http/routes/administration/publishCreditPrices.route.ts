import { minorUnitDigits } from '../../../../domain/kernel/amounts.ts';
import { post } from '../../defineRoute.ts';
import { priceListOf } from '../../../commands/reference.ts';
import { priceListResponse, publishPriceListRequest } from '../../wire/prices/prices.ts';

export const publishCreditPrices = post('/v1/admin/credit-prices', {
  summary: 'Publish a price list, all currencies at once',
  description: 'A new version; earlier ones never change. A currency that is left out is retired.',
  access: 'admin',
  body: publishPriceListRequest,
  reply: { status: 200, schema: priceListResponse },
  problems: ['version_conflict', 'busy'],
  handle: async ({ body, meta, doneOr }, { reference }) => {
    const entries = body.entries.map((entry) => ({
      ...entry,
      minor_unit_digits: minorUnitDigits(entry.currency) ?? 2,
    }));
    const data = { entries, expected_version: body.expected_version ?? null, note: body.note ?? null };
    const outcome = await reference.publishPriceList({ type: 'PublishPriceList', data, meta });
    const { state } = doneOr(outcome, {
      version_conflict: 'Another version was published since the one expected.',
    });
    return priceListOf(state);
  },
});
