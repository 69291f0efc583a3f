import type { Box } from './box.ts';
import type { JsonObject } from '../kernel/json.ts';

/** Kinds of codes that are read; `mrz`: the lines for machines on passports and identity cards. */
export const CODE_FORMATS = [
  'qr_code',
  'micro_qr_code',
  'data_matrix',
  'pdf417',
  'aztec',
  'ean_8',
  'ean_13',
  'upc_a',
  'upc_e',
  'code_128',
  'mrz',
] as const;
export type CodeFormat = (typeof CODE_FORMATS)[number];

/** A code on a page. */
export interface Code {
  readonly format: CodeFormat;
  /** As it is in the code, control characters included. */
  readonly text: string;
  /** From 1. */
  readonly page: number;
  /** null where the format has no geometry. */
  readonly box: Box | null;
  /** Its parts, where its text is of a known kind and its check digits agree. */
  readonly parsed?: ParsedCode | undefined;
}

/** `kind` says what it is; the other members are named as answers name them. */
export type ParsedCode = JsonObject & { readonly kind: string };
