import {
  ACCOUNT,
  closeUp,
  dropTail,
  parsed,
  positionOfLast,
  refundAndClaim,
  swapPositions,
  takeOut,
  text,
  twoTenants,
  type Edit,
} from './editing.ts';
import { AFTER, MONEY, WHO } from './moneyEdits.ts';
import { WORK } from './workEdits.ts';
import { RICH } from '../auditedHistory.ts';

/** The bytes of the file, and columns that nobody recomputed. */
const BYTES: readonly Edit[] = [
  {
    name: 'a byte of the data',
    foundBy: 'audit',
    make: text('data', 'CreditsAdjusted', (t) => t.replace('"adjustment_id":"adj_', '"adjustment_id":"adk_')),
  },
  {
    name: 'a byte of the metadata',
    foundBy: 'audit',
    make: text('metadata', 'CreditsAdjusted', (t) => t.replace('req', 'rex').replace('"admin"', '"tdmin"')),
  },
  {
    name: 'white space put into the data',
    foundBy: 'audit',
    make: text('data', 'CreditsAdjusted', (t) => t.replace(':', ': ')),
  },
  {
    name: 'a member written twice, the last as it was',
    foundBy: 'audit',
    make: text('data', 'CreditsAdjusted', (t) => t.replace('{', '{"credits":1,')),
  },
  {
    name: 'the category column',
    foundBy: 'audit',
    make: ({ first, run }) =>
      run(`update events set category = 'other' where position = ?`, first('CreditsBurned').position),
  },
  {
    name: 'an event ID',
    foundBy: 'audit',
    make: ({ first, run, redigest }) => {
      run(
        `update events set id = '00000000-0000-4000-8000-000000000001' where position = ?`,
        first('CreditsBurned').position,
      );
      redigest();
    },
  },
];

/** Events taken out, put in and moved. */
const ORDER: readonly Edit[] = [
  {
    name: 'a burn taken out, and all that follows written anew to fit',
    foundBy: 'audit',
    make: (intruder) =>
      takeOut(
        intruder,
        intruder.all(`data like '%"operation":"extract"%' and type = 'CreditsBurned' limit 1`),
      ),
  },
  {
    name: 'a refund and its claim taken out, and all that follows written anew to fit',
    foundBy: 'seal',
    make: (intruder) => takeOut(intruder, refundAndClaim(intruder)),
  },
  {
    name: 'an event taken out of the middle',
    foundBy: 'audit',
    make: ({ first, run }) => run('delete from events where position = ?', first('CreditsRefunded').position),
  },
  {
    name: 'an event put in twice',
    foundBy: 'audit',
    make: ({ first, forge }) => {
      const event = first('CreditsBurned');
      forge(event.stream, event.type, parsed(event.data));
    },
  },
  {
    name: 'two events of a stream that changed places',
    foundBy: 'audit',
    make: ({ all, run }) => {
      const [a, b] = all(`stream = '${ACCOUNT}' and type = 'CreditsAdjusted' order by revision`);
      if (a === undefined || b === undefined) return;
      const put = 'update events set data = ?, metadata = ?, id = ? where position = ?';
      run(put, a.data, a.metadata, 'x', b.position);
      run(put, b.data, b.metadata, b.id, a.position);
      run(put, a.data, a.metadata, a.id, b.position);
    },
  },
  {
    name: 'the positions of two tenants’ events',
    foundBy: 'audit',
    make: (intruder) => swapPositions(intruder, ...twoTenants(intruder)),
  },
  {
    name: 'the positions of two tenants’ events, the digests written anew',
    foundBy: 'seal',
    make: (intruder) => {
      swapPositions(intruder, ...twoTenants(intruder));
      intruder.redigest();
    },
  },
  {
    name: 'a stream under another name, its chain written anew',
    foundBy: 'audit',
    make: ({ run, rechain }) => {
      run(`update events set stream = 'account-nobody' where stream = '${ACCOUNT}'`);
      rechain('account-nobody');
    },
  },
  {
    name: 'a whole stream taken out, the rest written anew to fit',
    foundBy: 'seal',
    make: (intruder) => {
      intruder.run(`delete from events where stream = 'rateLimits-${RICH}'`);
      closeUp(intruder);
    },
  },
  {
    name: 'the tail cut off',
    foundBy: 'seal',
    make: (intruder) => dropTail(intruder, positionOfLast(intruder)),
  },
  {
    name: 'hash_version put down to 1, the chain written anew',
    foundBy: 'audit',
    make: ({ all, run, rechain }) => {
      for (const event of all(`stream = 'fxRates'`)) {
        const { hash_version: _, ...rest } = parsed(event.metadata);
        run('update events set metadata = ? where position = ?', JSON.stringify(rest), event.position);
      }
      rechain('fxRates');
    },
  },
];

/** One kind each; every one is made to a fresh copy of one log. */
export const EDITS: readonly Edit[] = [...BYTES, ...ORDER, ...WHO, ...MONEY, ...WORK, ...AFTER];
