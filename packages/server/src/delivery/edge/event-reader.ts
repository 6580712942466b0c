/** What a stream of the upstream tells: that it lives, or that the payload has changed. */
export type StreamNews =
  | { readonly type: 'alive' }
  | {
      readonly type: 'change';
      /** The version of the change, as far as the event says it. */
      readonly id: number;
    };

const lineFeed = 0x0a;
/** More of a line is not of interest: only its name, and a short value. */
const longestLine = 200;

/** Reads server-sent events as they come in pieces. The payloads in them pass by unread: an edge asks for those itself. */
export class EventReader {
  #line = '';
  #event = '';
  #id = 0;

  take(chunk: Uint8Array): StreamNews[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const news: StreamNews[] = [];
    for (let begin = 0; begin < bytes.length; ) {
      const found = bytes.indexOf(lineFeed, begin);
      const end = found < 0 ? bytes.length : found;
      const room = longestLine - this.#line.length;
      this.#line += bytes.toString('latin1', begin, Math.min(end, begin + room));
      begin = end + 1;
      if (found < 0) break;
      const told = this.#endLine();
      if (told !== null) news.push(told);
    }
    return news;
  }

  /** @returns what an empty line, which ends an event, makes complete */
  #endLine(): StreamNews | null {
    const line = this.#line.replace(/\r$/, '');
    this.#line = '';
    if (line === '') return this.#endEvent();
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === 'event') this.#event = value;
    if (name === 'id') this.#id = /^\d{1,15}$/.test(value) ? Number(value) : 0;
    return null;
  }

  #endEvent(): StreamNews {
    const isChange = this.#event === 'features' || this.#event === 'features-updated';
    const told: StreamNews = isChange ? { type: 'change', id: this.#id } : { type: 'alive' };
    this.#event = '';
    this.#id = 0;
    return told;
  }
}
