import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

import org.apache.kafka.common.utils.Utils;

/** Times Kafka's murmur2: keys from a file (counts and lengths, then bytes), hashes to another, nanoseconds printed. */
public class KeyHashTimes {
    public static void main(String[] words) throws Exception {
        ByteBuffer read = ByteBuffer.wrap(Files.readAllBytes(Path.of(words[0]))).order(ByteOrder.LITTLE_ENDIAN);
        int runs = Integer.parseInt(words[2]);
        byte[][] keys = new byte[read.getInt()][];
        for (int number = 0; number < keys.length; number++) {
            keys[number] = new byte[read.getInt()];
        }
        for (byte[] key : keys) {
            read.get(key);
        }
        int[] hashes = new int[keys.length];
        for (int run = 0; run < runs; run++) {
            long began = System.nanoTime();
            for (int number = 0; number < keys.length; number++) {
                hashes[number] = Utils.murmur2(keys[number]);
            }
            System.out.println(System.nanoTime() - began);
        }
        ByteBuffer written = ByteBuffer.allocate(4 * hashes.length).order(ByteOrder.LITTLE_ENDIAN);
        written.asIntBuffer().put(hashes);
        Files.write(Path.of(words[1]), written.array());
    }
}
