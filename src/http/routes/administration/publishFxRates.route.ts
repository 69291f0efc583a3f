import { post } from '../../defineRoute.ts';
import { checkNotAhead } from '../../doneOrProblem.ts';
import { fxRatesResponse, publishFxRatesRequest } from '../../wire/prices/fx.ts';

export const publishFxRates = post('/v1/admin/fx-rates', {
  summary: "Publish a day's exchange rates",
  description:
    'All rates of the day at once. The same day and base again with other rates corrects it; nothing is overwritten.',
  access: 'admin',
  body: publishFxRatesRequest,
  reply: { status: 200, schema: fxRatesResponse },
  problems: ['busy'],
  handle: async ({ body, meta, doneOr }, { reference }) => {
    checkNotAhead(`${body.date}T00:00:00.000Z`, meta.now, 'date');
    const outcome = await reference.publishFxRates({ type: 'PublishFxRates', data: body, meta });
    const { events } = doneOr(outcome, {
      fx_rates_conflict: () => {
        throw new Error('a publication corrects what is known');
      },
    });
    const published_at = events[0]?.data.published_at ?? null;
    return { ...body, published: events.length > 0, published_at };
  },
});
