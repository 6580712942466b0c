import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { askAgainEvent, payloadEvent } from '../serving/index.ts';
import { EventReader, type StreamNews } from './event-reader.ts';

const heartbeat = 'data:\n\n';
const members = Buffer.from(`"features":{"a":{"defaultValue":"${'é'.repeat(2_000)}\\n\\nevent: features\\nid: 99"}}}`);

const piece = fc.oneof(
  fc.constant({ bytes: Buffer.from(heartbeat), told: { type: 'alive' } as StreamNews }),
  fc.nat().map((id) => ({ bytes: payloadEvent(id, members).bytes, told: { type: 'change', id } as const })),
  fc.nat().map((id) => ({ bytes: askAgainEvent(id).bytes, told: { type: 'change', id } as const })),
);

describe('reading the stream of an upstream', () => {
  test('tells what the service writes, however it is cut on the way', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.array(fc.integer({ min: 1, max: 700 })), (pieces, sizes) => {
        const stream = Buffer.concat([Buffer.from('retry: 10000\n\n'), ...pieces.map(({ bytes }) => bytes)]);
        const reader = new EventReader();
        const told: StreamNews[] = [];
        for (let at = 0, cut = 0; at < stream.length; cut++) {
          const size = sizes[cut % Math.max(1, sizes.length)] ?? stream.length;
          told.push(...reader.take(stream.subarray(at, at + size)));
          at += size;
        }
        expect(told).toEqual([{ type: 'alive' }, ...pieces.map((one) => one.told)]);
      }),
      { numRuns: 50 },
    );
  });

  test('understands other line ends, comments and events that it does not know', () => {
    const reader = new EventReader();
    const text =
      ': hello\r\n\r\nevent:features\r\nid:7\r\ndata\r\n\r\nevent: other\nid: 8\n\nevent: features\nid: x\n\n';
    expect(reader.take(Buffer.from(text))).toEqual([
      { type: 'alive' },
      { type: 'change', id: 7 },
      { type: 'alive' },
      { type: 'change', id: 0 },
    ]);
  });
});
