/**
 * The partition of an id, of `count`: FNV-1a over its UTF-8 bytes, 32 bits, mixed once more so that few partitions are filled
 * evenly too. What is stored depends on it, so it never changes.
 */
export function partitionOf(id: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) {
    const unit = id.charCodeAt(index);
    if (unit > 0x7f) return mixed(hashOfBytes(Buffer.from(id))) % count;
    hash = Math.imul(hash ^ unit, 0x01000193);
  }
  return mixed(hash) % count;
}

function hashOfBytes(bytes: Buffer): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

/** The last step of MurmurHash3: each bit of the hash reaches the low ones. */
function mixed(hash: number): number {
  let mix = hash ^ (hash >>> 16);
  mix = Math.imul(mix, 0x85ebca6b);
  mix ^= mix >>> 13;
  mix = Math.imul(mix, 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
