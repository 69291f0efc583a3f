import { z } from 'zod';

/** What a tenant may do. A first sale moves `free` to `paid`. */
export const plan = z.enum(['free', 'paid', 'enterprise']);
export type Plan = z.output<typeof plan>;

/** Work that is billed. */
export const operation = z.enum(['extract', 'to_markdown', 'training', 'examples_export']);
export type Operation = z.output<typeof operation>;

/** How reports group consumption. */
export const category = z.enum(['extraction', 'ai_prefill', 'training', 'ocr']);
export type Category = z.output<typeof category>;

export const billingType = z.enum(['full_service', 'byok']);
export type BillingType = z.output<typeof billingType>;

/** Modes of extraction (`fast`, `standard`, `robust`) and of conversion (`default`, `fast`). */
export const extractionMode = z.enum(['fast', 'standard', 'robust', 'default']);
export type ExtractionMode = z.output<typeof extractionMode>;

export const taxBasis = z.enum(['exclusive', 'inclusive']);
