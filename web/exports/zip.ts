// A zip archive of some texts, stored as they are: APPNOTE.TXT 6.3.10 of PKWARE, sections 4.3.7, 4.3.12 and 4.3.16.

export interface TextFile {
  /** Within the archive, with `/` between folders. */
  name: string;
  text: string;
}

const localMagic = 0x04034b50;
const entryMagic = 0x02014b50;
const endMagic = 0x06054b50;
const version = 20;
/** Names are UTF-8. */
const utf8Flag = 0x0800;
const localBytes = 30;
const entryBytes = 46;
const endBytes = 22;

/** `at`: when its files were made, in the reader's clock. At most 65,535 files and 4 GiB together. */
export function zipOf(files: readonly TextFile[], at: Date): Blob {
  const encoder = new TextEncoder();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { name, text } of files) {
    const [nameBytes, bytes] = [encoder.encode(name), encoder.encode(text)];
    const shared = sharedHeader(nameBytes.length, bytes, at);
    const local = record(localBytes, localMagic, (view) => shared(view, 4));
    const entry = record(entryBytes, entryMagic, (view) => {
      view.setUint16(4, version, true);
      shared(view, 6);
      view.setUint32(42, offset, true);
    });
    parts.push(local, nameBytes, bytes);
    directory.push(entry, nameBytes);
    offset += localBytes + nameBytes.length + bytes.length;
  }
  const directoryBytes = directory.reduce((sum, { length }) => sum + length, 0);
  const end = record(endBytes, endMagic, (view) => {
    view.setUint16(8, files.length, true);
    view.setUint16(10, files.length, true);
    view.setUint32(12, directoryBytes, true);
    view.setUint32(16, offset, true);
  });
  return new Blob([...parts, ...directory, end]);
}

/** What a file's own header and its entry in the directory have in common, written from a place on. */
function sharedHeader(nameBytes: number, bytes: Uint8Array, at: Date) {
  const sum = crc32(bytes);
  const time = (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1);
  const day = ((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate();
  return (view: DataView, place: number): void => {
    view.setUint16(place, version, true);
    view.setUint16(place + 2, utf8Flag, true);
    view.setUint16(place + 6, time, true);
    view.setUint16(place + 8, day, true);
    view.setUint32(place + 10, sum, true);
    view.setUint32(place + 14, bytes.length, true);
    view.setUint32(place + 18, bytes.length, true);
    view.setUint16(place + 22, nameBytes, true);
  };
}

function record(
  length: number,
  magic: number,
  write: (view: DataView) => void,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, magic, true);
  write(view);
  return bytes;
}

/** Of ISO 3309, bit by bit: boards are some kilobytes. */
function crc32(bytes: Uint8Array): number {
  let sum = 0xffff_ffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb8_8320 : 0);
  }
  return (sum ^ 0xffff_ffff) >>> 0;
}
