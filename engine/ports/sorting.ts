import type { Box, PackedDocument } from '../document/document.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { ParseFailure } from './documentParser.ts';
import type { ToolLimits } from './documentTools.ts';

/** A class that documents are told apart by. */
export interface DocumentClass {
  readonly name: string;
  readonly description?: string | undefined;
  /** What is asked of such documents: the names and descriptions of its fields speak of them. */
  readonly schema?: JsonObject | undefined;
  /** Texts of such documents. */
  readonly examples?: readonly string[] | undefined;
}

/** Why: a sentence or words of a page, with their place where they have one. */
export interface SortingReason {
  readonly text: string;
  readonly page: number;
  /** null where the format has no geometry, or it is the page as a whole. */
  readonly bbox: Box | null;
}

/** How well a class fits, 0..1. */
export interface RankedClass {
  readonly class: string;
  readonly confidence: number;
}

export interface Classified {
  /** null: none fits. */
  readonly class: string | null;
  readonly confidence: number;
  /** All that speak for themselves at all, the best first. */
  readonly ranked: readonly RankedClass[];
  /** The words of the document that speak for the class. */
  readonly reasons: readonly SortingReason[];
}

/** A part of a stack: pages that belong together. */
export interface DocumentPart {
  /** Their numbers, which rise. */
  readonly pages: readonly number[];
  /** null: no class fits, or none was given. */
  readonly class: string | null;
  /** That it begins and ends there, and is of the class. */
  readonly confidence: number;
  /** Why it begins where it does, then what speaks for its class. */
  readonly reasons: readonly SortingReason[];
}

/** A document that was read, and the classes to hold it against. */
export interface SortingWork {
  readonly document: PackedDocument;
  readonly classes: readonly DocumentClass[];
}

export type ClassifyResult = { readonly kind: 'ok'; readonly classified: Classified } | ParseFailure;

export type SplitResult = { readonly kind: 'ok'; readonly documents: readonly DocumentPart[] } | ParseFailure;

/** Tells what a file is, and where one document in it ends and the next begins: by words and places alone. */
export interface DocumentSorter {
  classify(work: SortingWork, limits: ToolLimits): Promise<ClassifyResult>;
  split(work: SortingWork, limits: ToolLimits): Promise<SplitResult>;
}
