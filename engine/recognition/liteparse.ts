import { createRequire } from 'node:module';

/*
 * liteparse reads PDF and recognises text by Tesseract. Of its packages only the one with the native code of this
 * platform is installed: the package above it has but a thin wrapper, and 33 MB of Linux code that is never loaded.
 */

/** In points, from the top left of the page. */
interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Words that stand together in one font. */
export interface TextItem extends Rect {
  readonly text: string;
  readonly fontName?: string;
  readonly fontSize?: number;
  readonly fontHeight?: number;
  readonly fontAscent?: number;
  readonly fontDescent?: number;
  readonly fontWeight?: number;
  readonly fontIsBuggy?: boolean;
  /** As the page has them, with zeros among them. */
  readonly charCodes?: readonly number[];
  /** `aarrggbb`. */
  readonly fillColor?: string;
  readonly strokeColor?: string;
  /** Of recognised text, from 0 to 1. */
  readonly confidence?: number;
  /** Degrees, clockwise. */
  readonly rotation?: number;
  readonly words?: readonly (Rect & { readonly text: string })[];
}

interface Ink {
  readonly stroke: boolean;
  readonly strokeColor?: string;
  readonly fill: boolean;
  readonly fillColor?: string;
}

interface VectorGraphics {
  readonly shapes: readonly (Ink & { readonly bbox: Rect; readonly hasCurve: boolean })[];
  readonly lines: readonly (Ink & {
    readonly x1: number;
    readonly y1: number;
    readonly x2: number;
    readonly y2: number;
    readonly strokeWidth?: number;
  })[];
}

interface Annotation {
  readonly subtype: string;
  readonly contents?: string;
  readonly rect?: Rect;
  readonly quadpointRects: readonly Rect[];
  readonly uri?: string;
}

interface FormField {
  readonly fieldType: string;
  readonly name?: string;
  readonly value?: string;
  readonly exportValue?: string;
  readonly checked?: boolean;
  readonly rect?: Rect;
  readonly options: readonly string[];
  readonly selectedOptions: readonly string[];
}

/** A page; what the configuration did not ask for is not there. */
export interface ParsedPage {
  /** From 1. */
  readonly pageNum: number;
  readonly width: number;
  readonly height: number;
  readonly text: string;
  readonly textItems: readonly TextItem[];
  readonly vectorGraphics?: VectorGraphics;
  readonly annotations?: readonly Annotation[];
  readonly formFields?: readonly FormField[];
  readonly complexity?: {
    readonly fullPageImage: boolean;
    /** Shares of the page. */
    readonly largestImageCoverage: number;
    readonly textCoverage: number;
    readonly layout?: { readonly figureCoverage: number };
    /** Square points: of letters that are drawn as outlines, as far as the parser can tell. */
    readonly uncoveredVectorArea?: number;
    readonly pageArea: number;
  };
}

export interface ParseResult {
  readonly totalPages: number;
  readonly pages: readonly ParsedPage[];
  readonly pageErrors: readonly { readonly pageNum: number; readonly message: string }[];
  /** Of the whole document, as `outputFormat` asks. */
  readonly text: string;
  /** PNG of each page. */
  readonly screenshots: readonly {
    readonly pageNum: number;
    readonly width: number;
    readonly height: number;
    readonly imageBuffer: Buffer;
  }[];
}

export interface ParseConfig {
  readonly ocrEnabled?: boolean;
  readonly ocrLanguage?: string;
  /** Without it the data would be downloaded. */
  readonly tessdataPath?: string;
  readonly maxPages?: number;
  /** Numbers of pages from 1, with commas. */
  readonly targetPages?: string;
  readonly continueOnPageError?: boolean;
  readonly dpi?: number;
  readonly outputFormat?: 'json' | 'text' | 'markdown';
  readonly imageMode?: 'off' | 'placeholder' | 'embed';
  readonly extractScreenshots?: boolean;
  readonly extractAnnotations?: boolean;
  readonly extractFormFields?: boolean;
  readonly extractTextMetadata?: boolean;
  readonly extractVectorGraphics?: boolean;
  readonly emitWordBoxes?: boolean;
  readonly includeComplexity?: boolean;
  readonly renderFormFields?: boolean;
  readonly preserveVerySmallText?: boolean;
  readonly pageOrientationCorrections?: readonly {
    readonly page: number;
    readonly angle: 0 | 90 | 180 | 270;
  }[];
  readonly password?: string;
  readonly quiet?: boolean;
  readonly numWorkers?: number;
}

interface Native {
  readonly LiteParse: new (config: ParseConfig) => {
    readonly parse: (file: Buffer) => Promise<ParseResult>;
  };
}

/** Of Linux there are two, by the C library: only one of them is installed. */
const builds = (): readonly string[] => {
  const machine = `${process.platform}-${process.arch}`;
  if (process.platform === 'linux') return [`${machine}-gnu`, `${machine}-musl`];
  return [process.platform === 'win32' ? `${machine}-msvc` : machine];
};

let loaded: Native | undefined;

/** The native code of this platform; throws where its package is not installed or does not load. */
const native = (): Native => {
  const requireFrom = createRequire(import.meta.url);
  const causes: unknown[] = [];
  for (const build of builds()) {
    try {
      return requireFrom(`@llamaindex/liteparse-${build}`) as Native;
    } catch (cause) {
      causes.push(cause);
    }
  }
  throw new AggregateError(causes, `liteparse has no package for ${builds().join(' or ')} here`);
};

/** Looks at a PDF or a picture once, as `config` asks. Throws plain errors of the library. */
export const parseFile = (file: Uint8Array, config: ParseConfig): Promise<ParseResult> => {
  loaded ??= native();
  return new loaded.LiteParse(config).parse(Buffer.from(file));
};
