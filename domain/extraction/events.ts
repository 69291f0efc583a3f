import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { completedMembers, failedMembers, requestedMembers } from './usageMembers.ts';

/** The work was asked for. A usage event: measured work, it carries no price. */
const extractionRequested = event('ExtractionRequested', {
  extraction_id: z.string(),
  ...requestedMembers,
});

const extractionCompleted = event('ExtractionCompleted', {
  extraction_id: z.string(),
  ...completedMembers,
});

const extractionFailed = event('ExtractionFailed', { extraction_id: z.string(), ...failedMembers });

export const extractionEvent = z.discriminatedUnion('type', [
  extractionRequested,
  extractionCompleted,
  extractionFailed,
]);
export type ExtractionEvent = z.output<typeof extractionEvent>;

export const extractionStream = (extractionId: string): string => `extraction-${extractionId}`;
