import type { Citation } from '@quire/client';
import { isolated } from './shell.ts';

const counted = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);

/** How a value was found, behind its page. */
const FOUND_BY: Readonly<Record<NonNullable<Citation['by']>, string>> = {
  labels: 'by its label',
  mentions: 'by the words around it',
  boxes: 'by a ticked box',
  head: 'in the head of the document',
  letter: 'as a part of the letter',
  ranges: 'as an end of a range',
  form: 'by its form',
  contacts: 'as a contact',
  passages: 'below its heading',
  stamps: 'in a stamp',
  sums: 'as amounts that add up',
  clauses: 'in a sentence',
  parties: 'as a party',
  addresses: 'in an address',
  concepts: 'by a known label',
  mail: 'in the header of the message',
  byline: 'below the title',
  reader: 'by comparing all text on the pages',
  examples: 'as examples taught',
  tables: 'in a table',
  records: 'in a record',
  codes: 'in a code on the page',
  embedded_xml: 'in the invoice that the file has as XML',
  computed: 'worked out of the rows of a table',
  entries: 'in a dated entry',
  lines: 'in a column',
  listed: 'in a list',
  numbered: 'in a numbered paragraph',
  programme: 'in similar lines',
  called: "in a line with the list's name",
  statements: 'in a financial statement',
  references: 'in the references',
  model: 'by a model',
  person: 'by a person',
};

/** Words of the page "Playground". */
const timeLeft = (seconds: number): string =>
  seconds < 90 ? `${String(seconds)} s` : `${String(Math.round(seconds / 60))} min`;

export const playground = {
  title: 'Playground',
  say: 'Drop a document and see what is read from it.',
  drop: {
    title: 'Drop a document here',
    say: 'PDF, pictures, Word, Excel, e-mail, text and more. It goes to this service only.',
    choose: 'Choose a file',
    other: 'Replace document',
    samples: 'Or begin with a sample',
    sample: { invoice: 'Invoice', twoPages: 'Invoice of two pages' },
  },
  pages: 'Pages of the document',
  page: (page: number) => `Page ${String(page)}`,
  strip: 'Pages in small',
  goToPage: 'Go to page',
  smaller: 'Smaller',
  larger: 'Larger',
  notShown: 'The browser cannot show this format.',
  notDrawn: (credits: number | undefined) =>
    `The browser cannot show this format. Values are read from it all the same; to see it here, convert it (${
      credits === undefined ? 'billed by the page' : counted(credits, 'credit')
    }).`,
  asBrowserReads: 'As this browser reads it, at no cost. The service reads more: see “Markdown”.',
  asServiceReads: 'As the service reads it.',
  unnamed: 'Document without a name',
  unreadable: (pages: number | null) =>
    pages === null
      ? 'The service cannot read this file: it is none of the formats above, or is encrypted or damaged. ' +
        'Nothing is billed.'
      : `The document has ${counted(pages, 'page')}: choose some of them beside “Run”.`,
  otherThanNamed: (type: string) =>
    `The name ends in .pdf, but the file is ${type}. It is read as what it is.`,
  kept: {
    noResult: 'The result of this run is no longer kept. Run it again.',
    noFile: 'The file of this run is not kept. Choose it again to run it.',
  },
  options: {
    title: 'How to read it',
    mode: 'Mode',
    config: 'Config',
    noConfig: 'No config',
    pages: 'Pages',
    pagesSay: 'Pages: all, or 1-3,5',
    model: 'Model',
    modelSay: 'provider/model',
  },
  notOpened:
    'The browser cannot draw this PDF. It may be encrypted or damaged; the service may still read it.',
  boxOf: (path: string) => `Box of ${path}`,
  schema: {
    title: 'What to read',
    template: 'Template',
    templates: {
      invoice: 'Invoice',
      receipt: 'Receipt',
      statement: 'Bank statement',
      contract: 'Contract',
      cv: 'CV',
      form: 'Form',
    },
    ways: 'What to read, and what was read',
    fields: 'Fields',
    json: 'JSON Schema',
    propose: 'Propose from the document',
    proposeSay: (credits: number | undefined) =>
      credits === undefined
        ? 'Use the document’s labels; billed by the page.'
        : `Use the document’s labels (${counted(credits, 'credit')}).`,
    proposeFree: 'Use the document’s labels; it is converted already.',
    nothing: 'The document has no labels that fields could be made of.',
    name: 'Name',
    type: 'Type',
    description: 'Description',
    types: {
      string: 'Text',
      date: 'Date',
      number: 'Number',
      integer: 'Whole number',
      boolean: 'Yes or no',
      texts: 'List of texts',
      numbers: 'List of numbers',
      group: 'Group',
      rows: 'List of rows',
    },
    taken: 'Another field has this name, or there is none.',
    other: 'in JSON',
    add: 'Add field',
    addTo: (name: string) => `Add to ${name}`,
    up: (name: string) => `Move ${name} up`,
    down: (name: string) => `Move ${name} down`,
    remove: (name: string) => `Remove ${name}`,
    drag: (name: string) => `Drag ${name}, or move it by the arrow keys`,
    details: (name: string) => `Details of ${name}`,
    required: 'Required',
    format: 'Form',
    anyFormat: 'Any text',
    formats: {
      'date-time': 'Date and time',
      time: 'Time',
      email: 'E-mail',
      uri: 'Web address',
      uuid: 'UUID',
    },
    allowed: 'Allowed values',
    allowedSay: 'With commas between them; empty for any.',
    undo: 'Undo',
    redo: 'Redo',
    suggested: 'Suggested from the document',
    suggestedSay: 'Labels of the document, in its own words. Nothing changes until you accept it.',
    accept: (name: string) => `Accept ${name}`,
    acceptAll: 'Accept all',
    replaceAll: 'Replace my fields',
    dismiss: 'Dismiss',
    known: 'The document has no labels that your schema lacks.',
    save: 'Save as config',
    saveWhyNot: 'A service saves no configs. Copy the JSON and ask an operator.',
    configName: 'Playground',
    saved: 'Saved as the config “Playground”.',
  },
  beside: {
    open: 'Compare',
    title: 'Schemas side by side',
    say: 'What differs from the first one is marked.',
    now: 'As it is now',
    proposal: 'Proposed from the document',
    config: (name: string, version: number) => `Config: ${isolated(name)}, version ${String(version)}`,
    template: (name: string) => `Template: ${name}`,
    column: (at: number) => `Schema ${String(at)}`,
    use: 'Read by this one',
    same: (same: number, all: number) => `${String(same)} of ${counted(all, 'field')} are the same in each.`,
  },
  readings: {
    tab: 'Compare',
    title: 'Two readings side by side',
    config: 'Config of the other reading',
    sameSchema: 'The same schema',
    ofConfig: 'As the config says',
    withConfig: (name: string) => `Config: ${isolated(name)}`,
    mode: 'Mode of the other reading',
    model: 'Model of the other reading',
    modelSay: 'provider/model',
    read: 'Run with these settings',
    say: (credits: number | undefined) =>
      credits === undefined
        ? 'Another reading is billed by the page.'
        : `Another reading costs ${counted(credits, 'credit')} by the service’s own engine or key.`,
    value: 'Value',
    sure: (percent: number) => `${String(percent)} %`,
    differ: (different: number, all: number) =>
      different === 0
        ? `${all === 1 ? 'The one value is' : `All ${counted(all, 'value')} are`} the same.`
        : `${String(different)} of ${counted(all, 'value')} differ.`,
    only: 'Only what differs',
  },
  steps: {
    title: 'Next',
    key: {
      say: 'With the same request as a line of curl.',
      do: 'Get a key',
      line: 'The request with your key',
      once: 'The key is not shown again. Store it where your program reads its secrets.',
      copy: 'Copy the request',
      stored: 'I have stored it',
      name: 'Playground',
    },
    schema: {
      title: 'Read what you need',
      say: 'Your own in place of the template.',
      do: 'Use my schema',
      dialog: 'A JSON object with "type": "object" and "properties". It is run at once.',
      text: 'Your JSON Schema',
      submit: 'Run',
    },
    sell: {
      title: 'Sell credits',
      say: 'For the pages beyond the free ones.',
      do: 'Sell credits',
      dialog: (tenant: string) => `What ${tenant} paid. It is booked as a sale, at once.`,
      amount: (currency: string) => `Amount paid (${currency})`,
      wrong: (currency: string) => `An amount of ${currency}, such as 10.00.`,
      effect: (credits: string) => `${credits} credits by the price list.`,
      more: 'With VAT, fees or an invoice',
      done: (credits: string) => `${credits} credits were sold.`,
      submit: 'Record the sale',
    },
  },
  run: {
    run: 'Run',
    stop: 'Stop',
    quote: (credits: number, pages: number, free: number) => {
      const ofThem = free > 0 ? `, ${String(free)} of them free` : '';
      return `Costs ${counted(credits, 'credit')} for ${counted(pages, 'page')}${ofThem}.`;
    },
    short: 'The balance does not cover it.',
    unknownPages: 'Billed by the page; the count is known after the run.',
    sending: 'Sending the file',
    reading: 'Reading',
    bytesSent: (done: number, total: number) => `${megabytes(done)} of ${megabytes(total)} MB sent`,
    /** The page that is being read, and how long the others take at the pace so far. */
    pagesDone: (done: number, total: number, left?: number) => {
      const page = `Page ${String(Math.min(done + 1, total))} of ${String(total)}`;
      return left === undefined ? page : `${page}, ${timeLeft(left)} left`;
    },
    cost: (credits: number, pages: number) =>
      `Charged ${counted(credits, 'credit')} for ${counted(pages, 'page')}`,
    left: (credits: number) => `${credits.toLocaleString('en')} left`,
    first: 'Run it to see its values here.',
  },
  results: {
    markdown: 'Markdown',
    text: 'Text',
    blocks: 'Blocks',
    code: 'Code',
    values: 'Values',
    absent: 'not in the document',
    notRead: 'not read yet',
    others: 'No longer in the schema',
    confidence: (share: number) => `Confidence ${String(Math.round(share * 100))} %`,
    onPage: (page: number) => `p. ${String(page)}`,
    foundBy: (by: NonNullable<Citation['by']>): string => `found ${FOUND_BY[by]}`,
    warnings: 'Warnings',
    correct: (name: string) => `Correct ${name}`,
    correctSay: 'Type the right value, or drag a box around it on the page.',
    keep: 'Keep',
    cancel: 'Cancel',
    corrected: 'corrected by a person',
    addExample: 'Add to examples',
    added: 'Uploaded and kept: a training under Pipelines begins with it.',
    download: (count: number) => `Download ${counted(count, 'example')}`,
    copyJson: 'Copy the data as JSON',
    convert: 'Convert to markdown',
    convertSay: (credits: number | undefined) =>
      credits === undefined
        ? 'Converting is billed by the page.'
        : `Converting costs ${counted(credits, 'credit')}.`,
    rendered: 'Rendered',
    source: 'Source',
    shown: 'How markdown is shown',
    languages: 'Language of the code',
    copyCode: 'Copy the code',
  },
} as const;
