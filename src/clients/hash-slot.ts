/** Slots of a Redis Cluster. */
export const slotCount = 16_384;

/** CRC-16 of each byte alone, with the polynomial of XMODEM (0x1021), which is the one that Redis uses. */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** The slot of a key in a Redis Cluster: by what stands in its first braces, if that is anything, else by all of it. */
export function hashSlot(key: string): number {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  let crc = 0;
  for (const byte of Buffer.from(close > open + 1 ? key.slice(open + 1, close) : key)) {
    crc = ((crc << 8) & 0xffff) ^ (table[(crc >> 8) ^ byte] ?? 0);
  }
  return crc % slotCount;
}
