import { z } from 'zod';
import { completedMembers, failedMembers, requestedMembers } from '../extraction/usageMembers.ts';
import { event } from '../kernel/event.ts';

/** The work was asked for. A usage event: measured work, it carries no price. */
const conversionRequested = event('ConversionRequested', {
  conversion_id: z.string(),
  ...requestedMembers,
});

const conversionCompleted = event('ConversionCompleted', {
  conversion_id: z.string(),
  ...completedMembers,
});

const conversionFailed = event('ConversionFailed', { conversion_id: z.string(), ...failedMembers });

export const conversionEvent = z.discriminatedUnion('type', [
  conversionRequested,
  conversionCompleted,
  conversionFailed,
]);

export const conversionStream = (conversionId: string): string => `conversion-${conversionId}`;
