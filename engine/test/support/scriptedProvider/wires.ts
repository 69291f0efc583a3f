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

export interface ScriptedPage {
  readonly markdown: string;
  readonly words?: readonly ScriptedWord[];
  /** Points; A4 unless told. */
  readonly size?: readonly [number, number];
}

export type WireName = 'chat' | 'responses' | 'anthropic' | 'google' | 'mistral_ocr' | 'azure_di';

const WIRES: readonly (readonly [RegExp, WireName])[] = [
  [/\/chat\/completions$/u, 'chat'],
  [/\/responses$/u, 'responses'],
  [/\/messages$/u, 'anthropic'],
  [/:generateContent$/u, 'google'],
  [/\/ocr$/u, 'mistral_ocr'],
  [/\/documentModels\/[^/]+:analyze$/u, 'azure_di'],
];

/** The wire format that is spoken at a path. */
export const wireAt = (path: string): WireName | undefined => WIRES.find(([form]) => form.test(path))?.[1];

/** A model is named in the body, or in the path by Google and Azure. */
export const modelAsked = (path: string, body: JsonObject): string => {
  const named = /\/(?:models|deployments|documentModels)\/([^/:]+)/u.exec(path)?.[1];
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

/** Mistral tells sizes in pixels of the picture it rendered. */
export const mistralOcr = (pages: readonly ScriptedPage[]): JsonObject => ({
  model: 'mistral-ocr-2512',
  pages: pages.map(({ markdown, size: [width, height] = A4 }, index) => ({
    index,
    markdown,
    images: [],
    dimensions: { dpi: 200, width: Math.round((width * 200) / 72), height: Math.round((height * 200) / 72) },
  })),
  usage_info: { pages_processed: pages.length, doc_size_bytes: 1_000 },
});

const inches = (points: number): number => points / 72;

/** Azure tells sizes in inches, words by the four corners of their boxes, pages by spans of the content. */
export const azureDi = (pages: readonly ScriptedPage[]): JsonObject => {
  const parts = pages.map(({ markdown }) => markdown);
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
      pages: pages.map(({ markdown, words = [], size: [width, height] = A4 }, at) => ({
        pageNumber: at + 1,
        angle: 0,
        unit: 'inch',
        width: inches(width),
        height: inches(height),
        spans: [{ offset: offsets[at] ?? 0, length: markdown.length }],
        words: words.map(({ text, box: [x0, y0, x1, y1], confidence }) => ({
          content: text,
          confidence,
          polygon: [x0, y0, x1, y0, x1, y1, x0, y1].map(inches),
          span: { offset: 0, length: text.length },
        })),
      })),
    },
  };
};
