/** What the provider says of the sale: another fee. */
export const payoutFile = () => {
  const lines = [
    'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,payment_intent_id,automatic_payout_id',
    'txn_3QK9,2026-01-31 09:15:02,eur,119.00,2.05,charge,pi_3QK9,po_1QK9',
    'txn_3QKA,2026-01-31 23:59:59,eur,-1.20,0.00,fee,,po_1QK9',
  ];
  return { name: 'itemized.csv', blob: new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' }) };
};

/** Rates of two days, as the ECB publishes them. */
export const ratesFile = () => {
  const lines = ['Date,USD,GBP,', '2026-01-30,1.1919,0.8656,', '2026-01-29,1.1974,0.8668,'];
  return { name: 'eurofxref.csv', blob: new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' }) };
};

/** Vendors, as a table to look values up in. */
export const vendorsFile = () => {
  const lines = ['number,name,city', '1001,Acme GmbH,Berlin', '1002,Globex Ltd,Leeds'];
  return { name: 'vendors.csv', blob: new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' }) };
};
