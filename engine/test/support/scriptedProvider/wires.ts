import type { Json, JsonObject } from '../../../kernel/json.ts';

/** Tokens that an answer says it used; `cached` is part of `input`. */
export interface ScriptedUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** What the wires write in their own forms. */
export interface ScriptedAnswer {
  readonly text: string;
  readonly usage: ScriptedUsage;
  readonly finish: 'stop' | 'length' | 'refused';
}

export interface ScriptedWord {
  readonly text: string;
  /** Points from the top left: x0, y0, x1, y1. */
  readonly box: readonly [number, number, number, number];
  readonly confidence: number;
}

/** A block as Mistral and docling-serve place it; of a table, with its cells row by row. */
export interface ScriptedBlock {
  /** Of Mistral's kinds; docling-serve's own name for it is found. */
  readonly type: 'text' | 'title' | 'table' | 'list' | 'footer';
  readonly text: string;
  /** Points from the top left. */
  readonly box: readonly [number, number, number, number];
  readonly confidence?: number;
  /** Told of a table alone. */
  readonly cells?: readonly (readonly ScriptedWord[])[];
}

export interface ScriptedPage {
  readonly markdown: string;
  readonly words?: readonly ScriptedWord[];
  readonly blocks?: readonly ScriptedBlock[];
  /** Beside what the wire has of the page: what a provider gets wrong. */
  readonly beside?: JsonObject;
  /** Points; A4 unless told. */
  readonly size?: readonly [number, number];
}

export type WireName = 'chat' | 'responses' | 'anthropic' | 'google' | 'mistral_ocr' | 'azure_di' | 'docling';

const WIRES: readonly (readonly [RegExp, WireName])[] = [
  [/\/chat\/completions$/u, 'chat'],
  [/\/responses$/u, 'responses'],
  [/\/messages$/u, 'anthropic'],
  [/:generateContent$/u, 'google'],
  [/\/ocr$/u, 'mistral_ocr'],
  [/\/documentModels\/[^/]+:analyze$/u, 'azure_di'],
  [/\/convert\/source\/async$/u, 'docling'],
];

/** The wire format that is spoken at a path. */
export const wireAt = (path: string): WireName | undefined => WIRES.find(([form]) => form.test(path))?.[1];

/** A model is named in the body, or in the path by Google and Azure. */
export const modelAsked = (path: string, body: JsonObject): string => {
  const named = /\/(?:models|deployments|documentModels)\/([^/:]+)/u.exec(path)?.[1];
  const options = body['options'];
  if (typeof options === 'object' && options !== null && 'pipeline' in options)
    return textOf(options['pipeline']);
  return named === undefined ? textOf(body['model']) : decodeURIComponent(named);
};

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const chat = ({ text, usage, finish }: ScriptedAnswer): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'scripted',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: text },
      finish_reason: { stop: 'stop', length: 'length', refused: 'content_filter' }[finish],
    },
  ],
  usage: {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
  },
});

const responses = ({ text, usage, finish }: ScriptedAnswer): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  model: 'scripted',
  status: finish === 'stop' ? 'completed' : 'incomplete',
  incomplete_details:
    finish === 'stop' ? null : { reason: finish === 'length' ? 'max_output_tokens' : 'content_filter' },
  output: [
    {
      type: 'message',
      role: 'assistant',
      id: 'msg_1',
      content: [{ type: 'output_text', text, annotations: [] }],
    },
  ],
  usage: {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  },
});

/** Older models are made to call a tool where they should answer with JSON. */
const forcedTool = (body: JsonObject): string | undefined => {
  const choice = body['tool_choice'];
  return typeof choice === 'object' && choice !== null && 'name' in choice
    ? textOf(choice['name'])
    : undefined;
};

const anthropic = ({ text, usage, finish }: ScriptedAnswer, body: JsonObject): JsonObject => {
  const tool = forcedTool(body);
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [
      tool === undefined
        ? { type: 'text', text }
        : { type: 'tool_use', id: 'toolu_1', name: tool, input: JSON.parse(text) as Json },
    ],
    stop_reason:
      tool === undefined
        ? { stop: 'end_turn', length: 'max_tokens', refused: 'refusal' }[finish]
        : 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: usage.input - usage.cached,
      output_tokens: usage.output,
      cache_read_input_tokens: usage.cached,
      cache_creation_input_tokens: 0,
    },
  };
};

const google = ({ text, usage, finish }: ScriptedAnswer): JsonObject => ({
  candidates: [
    {
      content: { role: 'model', parts: [{ text }] },
      finishReason: { stop: 'STOP', length: 'MAX_TOKENS', refused: 'SAFETY' }[finish],
      index: 0,
    },
  ],
  usageMetadata: {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
    cachedContentTokenCount: usage.cached,
  },
  modelVersion: 'scripted',
});

/** What a language model's wire answers. */
export const answerOn = (wire: string | null, answer: ScriptedAnswer, body: JsonObject): JsonObject => {
  if (wire === 'responses') return responses(answer);
  if (wire === 'anthropic') return anthropic(answer, body);
  return wire === 'google' ? google(answer) : chat(answer);
};

const A4 = [595, 842] as const;

const pixels = (points: number): number => Math.round((points * 200) / 72);

/**
 * Mistral tells sizes in pixels of the picture it rendered; of the fourth model on it places blocks, before it
 * tells how sure it is of each word. By the types of `@mistralai/mistralai` 2.7.0.
 */
export const mistralOcr = (pages: readonly ScriptedPage[], asked: JsonObject = {}): JsonObject => ({
  model: 'mistral-ocr-2512',
  pages: pages.map(({ markdown, words, blocks, beside, size: [width, height] = A4 }, index) => ({
    index,
    markdown,
    images: [],
    dimensions: { dpi: 200, width: pixels(width), height: pixels(height) },
    ...(asked['include_blocks'] === true && { blocks: (blocks ?? []).map(mistralBlock) }),
    ...(asked['confidence_scores_granularity'] === 'word' && {
      confidence_scores: {
        average_page_confidence_score: 0.9,
        minimum_page_confidence_score: 0.5,
        word_confidence_scores: (words ?? []).map(({ text, confidence }) => ({
          text,
          confidence,
          start_index: markdown.indexOf(text),
        })),
      },
    }),
    ...beside,
  })),
  usage_info: { pages_processed: pages.length, doc_size_bytes: 1_000 },
});

const mistralBlock = ({ type, text, box: [x0, y0, x1, y1], confidence }: ScriptedBlock): JsonObject => ({
  type,
  content: text,
  top_left_x: pixels(x0),
  top_left_y: pixels(y0),
  bottom_right_x: pixels(x1),
  bottom_right_y: pixels(y1),
  confidence_scores:
    confidence === undefined
      ? null
      : {
          average_content_confidence_score: confidence,
          minimum_content_confidence_score: confidence,
          block_type_confidence_score: 0.99,
        },
});

const DOCLING_LABELS = {
  text: 'text',
  title: 'section_header',
  table: 'table',
  list: 'list_item',
  footer: 'page_footer',
} as const;

/** From the bottom of the page, as docling-serve measures a PDF. */
const fromBottom = ([x0, y0, x1, y1]: ScriptedWord['box'], height: number): JsonObject => ({
  l: x0,
  t: height - y0,
  r: x1,
  b: height - y1,
  coord_origin: 'BOTTOMLEFT',
});

/** What docling-serve has read, as a DoclingDocument by the types of `@docling/docling-core` 0.0.6. */
export const doclingResult = (pages: readonly ScriptedPage[]): JsonObject => {
  const all = pages.flatMap(({ blocks = [], size: [, height] = A4 }, at) =>
    blocks.map((block) => ({ block, height, page: at + 1 })),
  );
  const nodeOf = ({ block, height, page }: (typeof all)[number]): JsonObject => ({
    label: DOCLING_LABELS[block.type],
    content_layer: block.type === 'footer' ? 'furniture' : 'body',
    prov: [{ page_no: page, bbox: fromBottom(block.box, height), charspan: [0, block.text.length] }],
    children: [],
    ...(block.type === 'table'
      ? { data: { table_cells: cellsOf(block, height) }, captions: [] }
      : { text: block.text, orig: block.text, ...(block.type === 'title' && { level: 1 }) }),
  });
  const texts = all.filter(({ block }) => block.type !== 'table');
  const tables = all.filter(({ block }) => block.type === 'table');
  const referenceTo = (one: (typeof all)[number]): JsonObject => ({
    $ref: one.block.type === 'table' ? `#/tables/${tables.indexOf(one)}` : `#/texts/${texts.indexOf(one)}`,
  });
  return {
    status: 'success',
    errors: [],
    processing_time: 1.5,
    timings: {},
    document: {
      filename: 'document.pdf',
      json_content: {
        schema_name: 'DoclingDocument',
        version: '1.8.0',
        name: 'document',
        body: { self_ref: '#/body', children: all.map(referenceTo), label: 'unspecified', name: '_root_' },
        groups: [],
        texts: texts.map(nodeOf),
        tables: tables.map(nodeOf),
        pictures: [],
        pages: Object.fromEntries(
          pages.map(({ size: [width, height] = A4 }, at) => [
            String(at + 1),
            { size: { width, height }, page_no: at + 1 },
          ]),
        ),
        ...pages[0]?.beside,
      },
    },
  };
};

const cellsOf = ({ cells = [] }: ScriptedBlock, height: number): readonly JsonObject[] =>
  cells.flatMap((row, rowAt) =>
    row.map(({ text, box }, columnAt) => ({
      text,
      bbox: fromBottom(box, height),
      row_span: 1,
      col_span: 1,
      start_row_offset_idx: rowAt,
      end_row_offset_idx: rowAt + 1,
      start_col_offset_idx: columnAt,
      end_col_offset_idx: columnAt + 1,
      column_header: rowAt === 0,
    })),
  );

const inches = (points: number): number => points / 72;

const cornersOf = ([x0, y0, x1, y1]: ScriptedWord['box']): readonly number[] =>
  [x0, y0, x1, y0, x1, y1, x0, y1].map(inches);

const regionOf = (box: ScriptedWord['box'], at: number): JsonObject => ({
  boundingRegions: [{ pageNumber: at + 1, polygon: cornersOf(box) }],
});

const azureTable = (
  { cells, box }: ScriptedBlock,
  { at, spans }: { readonly at: number; readonly spans: readonly JsonObject[] },
): readonly JsonObject[] =>
  cells === undefined
    ? []
    : [
        {
          rowCount: cells.length,
          columnCount: cells[0]?.length ?? 0,
          ...regionOf(box, at),
          spans,
          cells: cells.flatMap((row, rowIndex) =>
            row.map((cell, columnIndex) => ({
              kind: rowIndex === 0 ? 'columnHeader' : 'content',
              rowIndex,
              columnIndex,
              content: cell.text,
              ...regionOf(cell.box, at),
            })),
          ),
        },
      ];

/** Azure tells sizes in inches, words by the four corners of their boxes, pages by spans of the content. */
export const azureDi = (pages: readonly ScriptedPage[]): JsonObject => {
  const parts = pages.map(({ markdown }) => markdown);
  const spanOf = ({ text }: ScriptedBlock, at: number): JsonObject => ({
    offset: (offsets[at] ?? 0) + Math.max(0, parts[at]?.indexOf(text) ?? 0),
    length: text.length,
  });
  const PAGE_BREAK = '\n\n<!-- PageBreak -->\n\n';
  const offsets = parts.map(
    (_, at) => parts.slice(0, at).join(PAGE_BREAK).length + (at > 0 ? PAGE_BREAK.length : 0),
  );
  return {
    status: 'succeeded',
    analyzeResult: {
      apiVersion: '2024-11-30',
      modelId: 'prebuilt-layout',
      stringIndexType: 'utf16CodeUnit',
      contentFormat: 'markdown',
      content: parts.join(PAGE_BREAK),
      paragraphs: pages.flatMap(({ blocks = [] }, at) =>
        blocks
          .filter(({ cells }) => cells === undefined)
          .map((block) => ({
            ...(block.type === 'title' && { role: 'sectionHeading' }),
            content: block.text,
            ...regionOf(block.box, at),
            spans: [spanOf(block, at)],
          })),
      ),
      tables: pages.flatMap(({ blocks = [] }, at) =>
        blocks.flatMap((block) => azureTable(block, { at, spans: [spanOf(block, at)] })),
      ),
      ...pages[0]?.beside,
      pages: pages.map(({ markdown, words = [], size: [width, height] = A4 }, at) => ({
        pageNumber: at + 1,
        angle: 0,
        unit: 'inch',
        width: inches(width),
        height: inches(height),
        spans: [{ offset: offsets[at] ?? 0, length: markdown.length }],
        words: words.map(({ text, box, confidence }) => ({
          content: text,
          confidence,
          polygon: cornersOf(box),
          span: { offset: 0, length: text.length },
        })),
      })),
    },
  };
};
