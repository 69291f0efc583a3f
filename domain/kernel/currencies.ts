/**
 * ISO 4217 list one as published on 2024-06-25: codes by the digits of their minor unit. Codes without a
 * minor unit (metals, funds units, test codes) are not money one can charge and are left out. Never
 * taken from `Intl`, whose digits are those of display: it has 0 for HUF, which by ISO has 2.
 */
const CODES_BY_DIGITS: readonly (readonly [digits: number, codes: string])[] = [
  [0, `BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF`],
  [
    2,
    `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD
      CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
      GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL
      MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN
      QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD
      TWD TZS UAH USD USN UYU UZS VED VES WST XCD YER ZAR ZMW ZWG`,
  ],
  [3, `BHD IQD JOD KWD LYD OMR TND`],
  [4, `CLF UYW`],
];

const DIGITS = new Map(
  CODES_BY_DIGITS.flatMap(([digits, codes]) => codes.split(/\s+/).map((code) => [code, digits] as const)),
);

/** Digits of the minor unit of an ISO 4217 currency (EUR 2, JPY 0, KWD 3); undefined for unknown codes. */
export const minorUnitDigits = (currency: string): number | undefined => DIGITS.get(currency);

/** All currencies known, in alphabetical order. */
export const CURRENCIES: readonly string[] = [...DIGITS.keys()].sort();
