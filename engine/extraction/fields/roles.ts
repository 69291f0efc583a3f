/** Whose a field is. */
export type Role = 'seller' | 'buyer' | 'delivery_party' | 'payee';

const WORDS: Readonly<Record<Role, readonly string[]>> = {
  seller: 'seller vendor supplier issuer merchant provider creditor company shop store sender issued verkaufer lieferant aussteller absender fournisseur vendeur emetteur proveedor vendedor emisor fornitore venditore emittente leverancier verkoper fornecedor emitente'.split(' '), // prettier-ignore
  buyer: 'buyer customer client recipient billing bill billed purchaser debtor guest kunde kaufer empfanger kaufers kunden acheteur destinataire cliente comprador destinatario acquirente klant koper ontvanger adquirente receives'.split(' '), // prettier-ignore
  delivery_party:
    'ship shipping delivery deliver consignee lieferung livraison entrega consegna levering'.split(' '),
  payee: 'payee beneficiary'.split(' '),
};
const ROLES = Object.keys(WORDS) as readonly Role[];

/** The role that words name; the first of them that names one decides. */
export function roleIn(words: readonly string[]): Role | undefined {
  if (words.includes('from') && words.includes('bill')) return 'seller';
  for (const word of words) {
    const role = ROLES.find((one) => WORDS[one].includes(word));
    if (role !== undefined) return role;
  }
  return undefined;
}

/** The words without those that name a role. */
export const withoutRole = (words: readonly string[]): readonly string[] =>
  words.filter((word) => !ROLES.some((role) => WORDS[role].includes(word)));
