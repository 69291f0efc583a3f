import type { Json } from '../../kernel/json.ts';

export const text = { type: 'string' };
export const date = { type: 'string', format: 'date' };
export const names = { type: 'array', items: text };

interface Case {
  readonly title: string;
  readonly lines: readonly string[];
  readonly properties: Record<string, Json>;
  readonly expected: Json;
}

/** Prose of agreements, and what is to be read from it. */
export const CASES: readonly Case[] = [
  {
    title: 'an English consultancy agreement',
    lines: [
      'CONSULTANCY AGREEMENT',
      'This Consultancy Agreement is made and entered into this 3rd day of May, 2031, by and between Harbour',
      'Lights, Inc., a Nevada corporation with its office at 4 Quay Road (the "Client"), and Willow & Reed LLC, a',
      'limited liability company (the "Consultant").',
      '1. Term. This Agreement shall remain in effect for a term of eighteen (18) months unless it is terminated',
      'earlier. Either party may terminate it by giving sixty (60) days prior written notice to the other party.',
      '2. Fee. The Client shall pay to the Consultant a monthly retainer of USD 10,000 for the services that are',
      'described above.',
      '3. Governing law. This Agreement shall be governed by and construed in accordance with the laws of the',
      'State of Nevada, and the parties submit to the courts of Clark County.',
    ],
    properties: {
      parties: names,
      client: text,
      consultant: text,
      agreement_date: date,
      governing_law: text,
      venue: text,
      term: text,
      term_months: { type: 'integer' },
      notice_period: text,
      notice_period_days: { type: 'integer' },
      monthly_retainer: { type: 'number' },
    },
    expected: {
      parties: ['Harbour Lights, Inc.', 'Willow & Reed LLC'],
      client: 'Harbour Lights, Inc.',
      consultant: 'Willow & Reed LLC',
      agreement_date: '2031-05-03',
      governing_law: 'Nevada',
      venue: 'Clark County',
      term: 'eighteen (18) months',
      term_months: 18,
      notice_period: 'sixty (60) days',
      notice_period_days: 60,
      monthly_retainer: 10000,
    },
  },
  {
    title:
      'who is what on the cover of a credit agreement, its lenders, defined dates and the state of its law',
    lines: [
      'CREDIT AGREEMENT',
      'Dated as of August 17, 2031',
      'among',
      'HARBOUR LIGHTS, INC.,',
      'as Borrower,',
      'FIRST QUAY BANK, N.A.,',
      'as Administrative Agent, Swing Line Lender',
      'and an L/C Issuer,',
      'WILLOW SECURITIES LLC,',
      'and',
      'REED BANK SECURITIES INC.,',
      'as Joint Lead Arrangers and Joint Book Managers',
      'This CREDIT AGREEMENT is entered into as of August 17, 2031, among Harbour Lights, Inc., a Nevada corporation',
      '(the "Borrower"), each lender from time to time party hereto (collectively, the "Lenders"), and First Quay',
      'Bank, N.A., as Administrative Agent, Swing Line Lender and an L/C Issuer.',
      '"Maturity Date" means the later of (a) August 17, 2036 and (b) if maturity is extended by the Borrower, the',
      'day to which it has been extended, provided that it is a day on which banks are open for business.',
      'Any notice must be received by the agent at least thirty (30) days before the day on which it takes effect.',
      'This Agreement shall be governed by, and construed in accordance with, the law of the State of Nevada.',
      '',
      'Name of Bank',
      'First Quay Bank, N.A.',
      'Old Harbour Bank PLC',
      'Tern Loan Finance LLC',
    ],
    properties: {
      parties: {
        type: 'object',
        properties: { borrower: text, administrative_agent: text, lead_arrangers: names, lenders: names },
      },
      terms: {
        type: 'object',
        properties: {
          agreement_date: { ...text, description: 'When it becomes binding. Return in YYYY-MM-DD format.' },
          maturity_date: date,
          borrowing_request: text,
          governing_law: { ...text, description: "Whose laws govern it (e.g., 'State of New York')" },
        },
      },
    },
    expected: {
      parties: {
        borrower: 'HARBOUR LIGHTS, INC.',
        administrative_agent: 'FIRST QUAY BANK, N.A.',
        lead_arrangers: ['WILLOW SECURITIES LLC', 'REED BANK SECURITIES INC.'],
        lenders: ['First Quay Bank, N.A.', 'Old Harbour Bank PLC', 'Tern Loan Finance LLC'],
      },
      terms: { agreement_date: '2031-08-17', maturity_date: '2036-08-17', governing_law: 'State of Nevada' },
    },
  },
  {
    title: 'a German lease',
    lines: [
      'Mietvertrag',
      'Dieser Vertrag wird geschlossen zwischen der Lindenhof Verwaltung GmbH, Am Markt 2, 50000 Neustadt',
      '(nachfolgend "Vermieter") und Frau Erika Sommer, Feldweg 7, 50001 Altdorf (nachfolgend "Mieter").',
      'Der Vertrag tritt am 1. April 2031 in Kraft und läuft für eine Dauer von zwei (2) Jahren, wenn er nicht',
      'vorher durch eine der beiden Parteien schriftlich gekündigt worden ist.',
      'Es gilt das Recht der Bundesrepublik Deutschland, und der Gerichtsstand für alle Streitigkeiten ist Neustadt.',
    ],
    properties: {
      vertragsparteien: names,
      vermieter: text,
      mieter: text,
      effective_date: date,
      laufzeit: text,
      anwendbares_recht: text,
      gerichtsstand: text,
    },
    expected: {
      vertragsparteien: ['Lindenhof Verwaltung GmbH', 'Erika Sommer'],
      vermieter: 'Lindenhof Verwaltung GmbH',
      mieter: 'Erika Sommer',
      effective_date: '2031-04-01',
      laufzeit: 'zwei (2) Jahren',
      anwendbares_recht: 'Bundesrepublik Deutschland',
      gerichtsstand: 'Neustadt',
    },
  },
  {
    title: 'a French contract of sale',
    lines: [
      'CONTRAT DE VENTE',
      'Le présent contrat est conclu entre la société Atelier du Lac SARL, dont le siège ' +
        'est à Annecy (ci-après « le',
      'Vendeur »), et la société Voiles Bleues SAS, dont le siège est à Brest (ci-après « l’Acheteur »).',
      'Le contrat prend effet le 15 juin 2031 et reste en vigueur pour une durée de trois ans à moins que les',
      'parties ne décident ensemble de le prolonger par écrit.',
      'Le présent contrat est soumis au droit français et tout litige sera porté devant les tribunaux de Brest.',
    ],
    properties: {
      parties: names,
      vendeur: text,
      acheteur: text,
      date_effet: date,
      duree: text,
      governing_law: text,
      tribunal: text,
    },
    expected: {
      parties: ['Atelier du Lac SARL', 'Voiles Bleues SAS'],
      vendeur: 'Atelier du Lac SARL',
      acheteur: 'Voiles Bleues SAS',
      date_effet: '2031-06-15',
      duree: 'trois ans',
      governing_law: 'droit français',
      tribunal: 'Brest',
    },
  },
  {
    title: 'a Spanish licence',
    lines: [
      'El presente contrato se celebra entre Sierra Verde S.L., con domicilio en la ciudad de ' +
        'Lugo (el "Licenciante"), y',
      'Puerto Claro S.A., con domicilio en la ciudad de Vigo (el "Licenciatario").',
      'El contrato entrará en vigor el 1 de marzo de 2031 y tendrá una duración de 24 meses desde esa fecha.',
      'Este contrato se rige por las leyes de España y las partes se someten a los tribunales de Vigo.',
    ],
    properties: {
      partes: names,
      licensee: text,
      effective_date: date,
      term_years: { type: 'number' },
      ley_aplicable: text,
    },
    expected: {
      partes: ['Sierra Verde S.L.', 'Puerto Claro S.A.'],
      licensee: 'Puerto Claro S.A.',
      effective_date: '2031-03-01',
      term_years: 2,
      ley_aplicable: 'España',
    },
  },
  {
    title: 'an Italian agreement',
    lines: [
      'Il presente contratto è stipulato tra Fonte Alta S.r.l., con sede in Trento (il ' +
        '"Fornitore"), e Prato Lungo S.p.A.,',
      'con sede in Siena (il "Cliente").',
      'Il contratto decorre dal 10 gennaio 2031 e resta in vigore per una durata di cinque anni salvo disdetta.',
      'Il presente contratto è regolato dalla legge italiana e per ogni controversia è competente il foro di Siena.',
    ],
    properties: { parti: names, cliente: text, decorrenza: date, durata: text, legge: text, foro: text },
    expected: {
      parti: ['Fonte Alta S.r.l.', 'Prato Lungo S.p.A.'],
      cliente: 'Prato Lungo S.p.A.',
      decorrenza: '2031-01-10',
      durata: 'cinque anni',
      legge: 'legge italiana',
      foro: 'Siena',
    },
  },
  {
    title: 'a Dutch agreement',
    lines: [
      'Deze overeenkomst is gesloten tussen Molenwiek B.V., gevestigd te Hoorn (hierna "Opdrachtgever"), en Duinpan',
      'N.V., gevestigd te Goes (hierna "Opdrachtnemer").',
      'De overeenkomst treedt in werking op 2 mei 2031 en geldt voor een periode van 12 maanden na die datum.',
      'Op deze overeenkomst is Nederlands recht van toepassing en alle geschillen komen voor de rechtbank te Hoorn.',
      'Deze overeenkomst wordt beheerst door Nederlands recht, ook als een partij in een ander land gevestigd is.',
    ],
    properties: { partijen: names, client: text, effective_date: date, looptijd: text, recht: text },
    expected: {
      partijen: ['Molenwiek B.V.', 'Duinpan N.V.'],
      client: 'Molenwiek B.V.',
      effective_date: '2031-05-02',
      looptijd: '12 maanden',
      recht: 'Nederlands recht',
    },
  },
  {
    title: 'a Portuguese agreement',
    lines: [
      'O presente acordo é celebrado entre Serra Nova Lda, com sede em Braga (o "Vendedor"), e Rio Manso S.A., com',
      'sede em Faro (o "Comprador").',
      'O acordo entra em vigor em 5 de maio de 2031 e permanece válido pelo prazo de três anos a contar dessa data.',
      'O presente acordo é regido pelas leis de Portugal e as partes aceitam os tribunais de Faro.',
    ],
    properties: { partes: names, comprador: text, effective_date: date, prazo: text, governing_law: text },
    expected: {
      partes: ['Serra Nova Lda', 'Rio Manso S.A.'],
      comprador: 'Rio Manso S.A.',
      effective_date: '2031-05-05',
      prazo: 'três anos',
      governing_law: 'Portugal',
    },
  },
  {
    title: 'an agreement of three that names another agreement first',
    lines: [
      'Reference is made to that certain Merger Agreement dated as of 2 January 2029 between ' +
        'Old Oak Ltd and Young Elm Ltd.',
      'This Loan Agreement (this "Agreement") is dated as of March 9, 2031 and is entered into ' +
        'by and among Bright Coin PLC',
      '(the "Lender"), Stone Bridge Limited (the "Borrower") and Mary Field (the "Guarantor").',
      'This Agreement expires on December 31, 2034 unless the parties have agreed in writing that it should continue.',
      'The Borrower shall pay an annual interest rate of 4.5% on all the sums that have not been repaid by then.',
      'This Agreement shall be governed by English law and the parties agree to be bound by it in all respects.',
    ],
    properties: {
      parties: names,
      lender_name: text,
      expiration_date: date,
      effective_date: date,
      interest_rate: { type: 'number' },
      jurisdiction: text,
    },
    expected: {
      parties: ['Bright Coin PLC', 'Stone Bridge Limited', 'Mary Field'],
      lender_name: 'Bright Coin PLC',
      effective_date: '2031-03-09',
      expiration_date: '2034-12-31',
      interest_rate: 4.5,
      jurisdiction: 'English',
    },
  },
];
