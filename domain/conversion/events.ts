import { z } from 'zod';
import { completedMembers, failedMembers, requestedMembers } from '../extraction/usageMembers.ts';
import { event } from '../kernel/event.ts';

/** The work was asked for. A usage event: measured work, it carries no price. */
export const conversionRequested = event('ConversionRequested', {
  conversion_id: z.string(),
  ...requestedMembers,
});

export const conversionCompleted = event('ConversionCompleted', {
  conversion_id: z.string(),
  ...completedMembers,
});

export const conversionFailed = event('ConversionFailed', { conversion_id: z.string(), ...failedMembers });

export const conversionEvent = z.discriminatedUnion('type', [
  conversionRequested,
  conversionCompleted,
  conversionFailed,
]);
export type ConversionEvent = z.output<typeof conversionEvent>;

export const conversionStream = (conversionId: string): string => `conversion-${conversionId}`;
