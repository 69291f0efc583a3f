import { labelWords } from './words.ts';

/** What kind of value a concept has. */
export type ValueKind =
  | 'date' | 'number' | 'integer' | 'percent' | 'currency' | 'id' | 'iban' | 'bic' | 'vat_id' | 'email' | 'phone' | 'url'
  | 'party' | 'text' | 'boolean'; // prettier-ignore

/** An idea that documents and schemas name in many ways. */
export interface Concept {
  readonly id: string;
  readonly kind: ValueKind;
  readonly phrases: readonly (readonly string[])[];
}

const concept = (id: string, kind: ValueKind, phrases: string): Concept => ({
  id,
  kind,
  phrases: phrases
    .split('|')
    .map(labelWords)
    .filter((words) => words.length > 0),
});

/**
 * The shipped vocabulary: English, German, French, Spanish, Italian, Dutch, Portuguese. The first phrases
 * of a concept are those that schemas use; competing concepts are there so that their labels are not
 * taken for ours ("due date" for the invoice date).
 */
export const CONCEPTS: readonly Concept[] = [
  concept('invoice_number', 'id', 'invoice number|invoice id|invoice|bill number|receipt number|document number|voucher number|rechnung nummer|rechnung|beleg nummer|handelsrechnung nr|gutschrift nr|gutschrift|rechnungskorrektur nr|facture numero|facture|numero facture|factura numero|factura|fattura numero|fattura|numero documento|factuur nummer|factuur|fatura numero|fatura|booking id|booking number|credit note number|avoir numero|nota credito'),
  concept('order_number', 'id', 'order number|purchase order number|po number|order|bestellung nummer|bestellung|bestell nummer|auftrag nummer|auftrag|commande numero|numero commande|bon commande|pedido numero|ordine numero|ordine|order nummer|contract number|vertrag nummer|contrat numero|lieferung nr|lieferschein nr|delivery note number|bon livraison'),
  concept('customer_number', 'id', 'customer number|customer id|client number|client id|account number|kunden nummer|kundennr|numero client|id client|cliente numero|codice cliente|klant nummer|klant|ihre nummer|debitor nummer|konto nummer|kto nr|supplier number|lieferanten nummer|globale nummer|handelsregister nummer|register nummer'),
  concept('tax_number', 'id', 'tax number|steuer nummer|siret|siren|cif|nif|codice fiscale|kvk|ein|company registration number|registration number|cin|gstin|hrb'),
  concept('article_number', 'id', 'article number|item number|sku|product code|part number|art nr|artikel nummer|reference|ref|codigo|codice|serial number|serie nummer'),
  concept('invoice_date', 'date', 'invoice date|issue date|date issue|date invoice|bill date|receipt date|document date|billing date|date|rechnung datum|beleg datum|ausstellung datum|rechnung nr vom|handelsrechnung nr vom|gutschrift nr vom|rechnungskorrektur nr vom|rechnung vom|date facture|date emission|facture nr du|facture du|fecha factura|fecha emision|data fattura|data emissione|fattura del|factuur datum|data fatura|data emissao|invoice dated|dated|fecha|data|datum'),
  concept('due_date', 'date', 'due date|date due|payment due date|payment due|date by payment due|pay by|payable by|due|falligkeit datum|fallig am|falligkeit|zahlbar bis|zahlungsziel|uberweisen bis|zahlung bis|bis zum|date echeance|echeance|date limite paiement|a payer avant|fecha vencimiento|vencimiento|data scadenza|scadenza|verval datum|vervaldatum|data vencimento|amount due on'),
  concept('delivery_date', 'date', 'delivery date|service date|date of supply|shipping date|liefer datum|leistung datum|liefer leistung datum|leistungszeitraum|date livraison|fecha entrega|data consegna|lever datum|check in|check out'),
  concept('order_date', 'date', 'order date|bestell datum|bestellung nr vom|bestellung vom|auftrag datum|auftrag nr vom|date commande|fecha pedido|data ordine|order datum|vertrag nr vom|lieferung nr vom|verordnung vom'),
  concept('start_date', 'date', 'start date|effective date|commencement date|valid from|from date|beginn|vertragsbeginn|gultig ab|date debut|date effet|fecha inicio|data inizio|decorrenza|ingangs datum'),
  concept('end_date', 'date', 'end date|expiry date|expiration date|termination date|valid until|ende|vertragsende|gultig bis|ablauf datum|date fin|date expiration|fecha fin|data fine|eind datum'),
  concept('birth_date', 'date', 'date of birth|birth date|born|geburts datum|geboren|date naissance|fecha nacimiento|data nascita|geboorte datum'),
  concept('discount_date', 'date', 'skonto bis|skonto innerhalb tagen bis|discount until|zahlungseingang|payment date|paid on|bezahlt am'),
  concept('grand_total', 'number', 'grand total|total amount including tax|total including vat|total amount|amount|total gross|gross total|invoice total|total invoice|total|total due|amount due|total amount due|balance due|total to pay|brutto summe|brutto betrag|gesamt betrag|gesamt summe|rechnung betrag|rechnungsbetrag brutto|end betrag|summe inkl ust|summe brutto|gesamt brutto|total eur|total ttc|montant ttc|montant total|net a payer|total general|somme a payer|total factura|importe total|total a pagar|totale fattura|totale|totale documento|totale da pagare|factuur totaal|totaal|totaal incl btw|totaal inclusief btw|te betalen|valor total|total facture'),
  concept('net_total', 'number', 'net total|total net|total without vat|total excluding vat|total amount without tax|amount untaxed|untaxed amount|tax basis|subtotal|sub total|net amount|total before tax|taxable amount|netto summe|netto betrag|summe netto|gesamt netto|rechnung summe ohne ust|rechnungssumme ohne vat|zwischen summe|steuerbasis|warenwert netto|total ht|montant ht|total hors taxes|sous total|base imponible|importe neto|imponibile|totale imponibile|exclusief btw|totaal excl btw|subtotaal|grondslag|totaal exclusief btw|base tributavel'),
  concept('tax_total', 'number', 'tax total|total tax|vat total|total vat|vat amount|tax amount|amount tax|tax|vat|sales tax|steuer betrag|steuerbetrag eur|ust betrag|umsatzsteuer betrag|zuzuglich ust|zuzugl ust|mwst betrag|steuer|total tva|montant tva|total taxes|tva|cuota iva|iva|importe iva|totale iva|imposta|totale imposta|btw|btw bedrag|valor iva|gst'),
  concept('line_sum', 'number', 'line total sum|positionssumme|summe positionen|sum of lines|items total|total lines'),
  concept('paid_amount', 'number', 'amount paid|prepaid amount|paid|payment received|erhaltene anzahlungen|anzahlung|bereits bezahlt|acompte|montant regle|pagado|acconto|betaald|deposit'),
  concept('amount_due', 'number', 'amount due|balance due|balance|open amount|zahl betrag|zahlbetrag|offener betrag|restbetrag|solde a payer|reste a payer|saldo|importe pendiente|openstaand bedrag'),
  concept('discount', 'number', 'discount|discount amount|rebate|rabatt|nachlass|abschlag|gesamtbetrag abschlage|skonto|remise|descuento|sconto|korting'),
  concept('charge', 'number', 'charges|surcharge|gesamtbetrag zuschlage|zuschlag|aufschlag|frais|recargo|supplemento|toeslag|allowances charges'),
  concept('shipping', 'number', 'shipping|shipping cost|freight|delivery cost|versand kosten|versand|frachtkosten|frais port|port|gastos envio|spese spedizione|verzendkosten'),
  concept('tax_rate', 'percent', 'tax rate|vat rate|vat percent|ust satz|ust %|vat %|steuer satz|mwst satz|taux tva|tipo iva|aliquota iva|aliquota|btw tarief|btw percentage|%'),
  concept('currency', 'currency', 'currency|currency code|invoice currency|wahrung|rechnungswahrung|rechnung wahrung|devise|monnaie|moneda|divisa|valuta|moeda'),
  concept('iban', 'iban', 'iban|bank account|account iban|bank account iban|iban account|payee account|konto|compte bancaire|cuenta bancaria|conto bancario|bankrekening'),
  concept('bic', 'bic', 'bic|swift|swift code|bic code|bic swift'),
  concept('vat_id', 'vat_id', 'vat id|vat number|vat identification number|vat registration number|vat tax registration number|tax registration number|vat|vat reg no|seller vat id|ust id nr|ust idnr|umsatzsteuer id|uid nummer|tva intracommunautaire|numero tva|nr tva intra communautaire|tva|nif iva|partita iva|p iva|btw nummer|btw nr|contribuinte|vat code'),
  concept('buyer_vat_id', 'vat_id', 'buyer vat id|customer vat id|vat id buyer|vat number customer|kunden ust id|ihre ust id nr|tva client|nr tva client|uw btw nummer|partita iva cliente'),
  concept('email', 'email', 'email|e mail|mail|email address|courriel|correo|correo electronico|posta elettronica'),
  concept('phone', 'phone', 'phone|phone number|tel|mobile|fon|telefon|telefono|telefoon|handy|cellulare|movil|contact number'),
  concept('url', 'url', 'website|web|url|homepage|internet|site web|sitio web|sito'),
  concept('seller', 'party', 'seller|seller name|vendor|vendor name|supplier|supplier name|issuer|issuer name|company issued invoice|merchant|merchant name|from|sold by|service provider|payee|company|store|store name|verkaufer|lieferant|aussteller|rechnungssteller|absender|anbieter|fournisseur|vendeur|emetteur|proveedor|vendedor|emisor|fornitore|cedente prestatore|venditore|leverancier|verkoper|fornecedor|creditor'),
  concept('buyer', 'party', 'buyer|buyer name|customer|customer name|client|client name|bill to|billed to|invoice to|sold to|bill to address|billing address|recipient|guest name|guest|kaufer|kaufer leistungsempfanger|leistungsempfanger|kunde|rechnungsempfanger|rechnung an|rechnungsadresse|empfanger|client facture|facture a|adresse facturation|nom abonne|acheteur|cliente|facturar a|destinatario|cessionario committente|acquirente|fatturare a|klant|factuuradres|factuur adres|koper|comprador|debtor'),
  concept('delivery_party', 'party', 'ship to|delivery address|deliver to|lieferadresse|lieferanschrift|warenempfanger|abweichende lieferanschrift|adresse livraison|direccion entrega|indirizzo consegna|afleveradres|aflever adres'),
  concept('payee', 'party', 'abweichender zahlungsempfanger|zahlungsempfanger|kontoinhaber|account holder|kontoname|beneficiary|titulaire|beneficiario|intestatario|payment remittance'),
  concept('description', 'text', 'name|description|item|article|product|product name|service|article or service|name article service|item description|details|beschreibung|bezeichnung|artikel|produkt|leistung|artikelbezeichnung|designation|libelle|produit|article designation|descripcion|concepto|producto|descrizione|articolo|prodotto|omschrijving|descricao|position'),
  concept('quantity', 'number', 'quantity|billed quantity|qty|units|menge|anzahl|stuck|hoeveelheid|aantal|quantite|qte|cantidad|cant|quantita|qta|quantidade|hours|stunden|stk|pcs'),
  concept('unit_price', 'number', 'unit price|price unit|price|net price|net price of one unit|price per unit|rate|unit cost|einzel preis|netto preis|stuckpreis|preis|vk preis|e preis|ep|prix unitaire|prix unitaire ht|pu|pu ht|prix|precio unitario|precio|prezzo unitario|prezzo|prijs|prijs per stuk|stuks prijs|eenheids prijs|preco unitario'),
  concept('line_total', 'number', 'line total|line amount|amount|net total of line|amount of line|total|extended price|price subtotal|subtotal|zeilen betrag|positions betrag|position betrag ohne ust|positionsbetrag|gesamt preis|gesamt|betrag|summe|netto|g preis|prix ht|montant ht|montant|total ht|importe|importo|bedrag|totaal|prijs incl btw|valor|ext price'),
  concept('line_number', 'integer', 'position|pos|line number|line|item number|nr|lfd nr|ligne|linea|riga|regel'),
  concept('unit', 'text', 'unit|unit of measure|uom|einheit|mengeneinheit|unite|unidad|unita|eenheid'),
  concept('payment_terms', 'text', 'payment terms|terms of payment|terms|zahlungsbedingungen|conditions paiement|conditions reglement|condiciones pago|condizioni pagamento|betalingsvoorwaarden|betalingstermijn'),
  concept('payment_method', 'text', 'payment method|payment mode|method of payment|paid by|zahlungsart|zahlungsform|mode paiement|mode reglement|forma pago|modalita pagamento|betaalwijze|betalingswijze'),
  concept('address', 'text', 'address|street|anschrift|adresse|strasse|direccion|domicilio|indirizzo|adres|endereco'),
  concept('jurisdiction', 'text', 'governing law|jurisdiction|applicable law|gerichtsstand|anwendbares recht|droit applicable|ley aplicable|legge applicabile'),
]; // prettier-ignore
