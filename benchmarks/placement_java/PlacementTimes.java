import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;

import org.apache.kafka.admin.AdminUtils;
import org.apache.kafka.admin.BrokerMetadata;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;

/**
 * Times Kafka's own placers: topics of equal size, one after another, on brokers with racks in turn.
 *
 * A line {@code PLACER BROKERS RACKS TOPICS PARTITIONS FACTOR} on standard input, with {@code striped} or {@code zk},
 * is answered by the nanoseconds that it took.
 */
public final class PlacementTimes {
    public static void main(String[] args) throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] part = line.split(" ");
            int[] figures = new int[5];
            for (int i = 0; i < 5; i++) {
                figures[i] = Integer.parseInt(part[i + 1]);
            }
            boolean isStriped = part[0].equals("striped");
            System.out.println(isStriped ? striped(figures) : alternating(figures));
            System.out.flush();
        }
    }

    private static long striped(int[] figures) {
        List<UsableBroker> brokers = new ArrayList<>();
        for (int id = 0; id < figures[0]; id++) {
            brokers.add(new UsableBroker(id, Optional.of("rack" + id % figures[1]), false));
        }
        ClusterDescriber cluster = new ClusterDescriber() {
            @Override
            public Iterator<UsableBroker> usableBrokers() {
                return brokers.iterator();
            }

            @Override
            public Uuid defaultDir(int brokerId) {
                return Uuid.ZERO_UUID;
            }
        };
        StripedReplicaPlacer placer = new StripedReplicaPlacer(new Random(0));
        List<Object> kept = new ArrayList<>();
        long start = System.nanoTime();
        for (int topic = 0; topic < figures[2]; topic++) {
            kept.add(placer.place(new PlacementSpec(0, figures[3], (short) figures[4]), cluster));
        }
        return System.nanoTime() - start;
    }

    private static long alternating(int[] figures) {
        Collection<BrokerMetadata> brokers = new ArrayList<>();
        for (int id = 0; id < figures[0]; id++) {
            brokers.add(new BrokerMetadata(id, Optional.of("rack" + id % figures[1])));
        }
        List<Object> kept = new ArrayList<>();
        long start = System.nanoTime();
        for (int topic = 0; topic < figures[2]; topic++) {
            kept.add(AdminUtils.assignReplicasToBrokers(brokers, figures[3], figures[4]));
        }
        return System.nanoTime() - start;
    }
}
