/**
 * ISO 4217 currencies in use, by the digits of their minor unit. Not from `Intl`: Node's tables give
 * digits for display (HUF 0, IQD 0), which differ from the standard's.
 */
const BY_DIGITS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD
    CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ
    GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK
    MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB
    SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN
    UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries(BY_DIGITS).flatMap(([digits, codes]) =>
    codes.split(/\s+/).map((code): [string, number] => [code, Number(digits)]),
  ),
);

/** Digits of the currency's minor unit (cents: 2); undefined for a code that ISO 4217 does not list. */
export const minorUnitDigits = (currency: string): number | undefined => DIGITS.get(currency);
