import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Times Kafka's own assignors on groups read from files.
 *
 * Commands come on standard input, one a line, and each is answered by one line: {@code load FILE} reads a group,
 * {@code run} assigns it once and gives the nanoseconds, {@code save FILE} writes the last answer. Everything that
 * Kafka is handed is made anew before each run and outside the time.
 */
public final class AssignorTimes {
    private record Member(String id, int generation, List<String> topics, List<TopicPartition> held) { }

    private final Map<String, Integer> topics = new LinkedHashMap<>();
    private final List<Member> members = new ArrayList<>();
    private String protocol;
    private String name;
    private Map<String, Collection<TopicPartition>> answer;

    public static void main(String[] args) throws IOException {
        AssignorTimes times = new AssignorTimes();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split("\t");
            switch (words[0]) {
                case "load" -> System.out.println(times.load(Path.of(words[1])));
                case "run" -> System.out.println(times.run());
                case "save" -> System.out.println(times.save(Path.of(words[1])));
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    private int load(Path path) throws IOException {
        topics.clear();
        members.clear();
        answer = null;
        List<String> names = new ArrayList<>();
        List<List<String>> lists = new ArrayList<>();
        for (String line : Files.readAllLines(path)) {
            String[] words = line.split("\t", -1);
            switch (words[0]) {
                case "assignor" -> {
                    protocol = words[1];
                    name = words[2];
                }
                case "topic" -> {
                    topics.put(words[1], Integer.parseInt(words[2]));
                    names.add(words[1]);
                }
                case "list" -> {
                    List<String> listed = new ArrayList<>();
                    for (int place : numbers(words[1])) {
                        listed.add(names.get(place));
                    }
                    lists.add(listed);
                }
                case "member" -> {
                    List<TopicPartition> held = new ArrayList<>();
                    int[] pairs = numbers(words[4]);
                    for (int i = 0; i < pairs.length; i += 2) {
                        held.add(new TopicPartition(names.get(pairs[i]), pairs[i + 1]));
                    }
                    List<String> wanted = lists.get(Integer.parseInt(words[3]));
                    members.add(new Member(words[1], Integer.parseInt(words[2]), wanted, held));
                }
                default -> throw new IllegalArgumentException(line);
            }
        }
        return members.size();
    }

    private static int[] numbers(String text) {
        String[] words = text.isEmpty() ? new String[0] : text.split(" ");
        return Arrays.stream(words).mapToInt(Integer::parseInt).toArray();
    }

    /** Assigns when asked, and gives what lists the answer: that is not part of the time. */
    private interface Work extends Supplier<Supplier<Map<String, Collection<TopicPartition>>>> { }

    private long run() {
        Work work = protocol.equals("consumer") ? server() : client();
        answer = null;
        System.gc();
        long start = System.nanoTime();
        Supplier<Map<String, Collection<TopicPartition>>> made = work.get();
        long took = System.nanoTime() - start;
        answer = made.get();
        return took;
    }

    private Work client() {
        List<PartitionInfo> infos = new ArrayList<>();
        Node[] nobody = new Node[0];
        topics.forEach((topic, count) -> {
            for (int partition = 0; partition < count; partition++) {
                infos.add(new PartitionInfo(topic, partition, Node.noNode(), nobody, nobody));
            }
        });
        Cluster cluster = new Cluster("cluster", List.of(), infos, Set.of(), Set.of());
        Map<String, ConsumerPartitionAssignor.Subscription> subscriptions = new LinkedHashMap<>();
        for (Member member : members) {
            subscriptions.put(member.id, subscription(member));
        }
        ConsumerPartitionAssignor assignor = clientAssignor();
        return () -> {
            ConsumerPartitionAssignor.GroupAssignment made =
                assignor.assign(cluster, new ConsumerPartitionAssignor.GroupSubscription(subscriptions));
            return () -> {
                Map<String, Collection<TopicPartition>> lists = new HashMap<>();
                made.groupAssignment().forEach((id, part) -> lists.put(id, part.partitions()));
                return lists;
            };
        };
    }

    private ConsumerPartitionAssignor clientAssignor() {
        return switch (name) {
            case "range" -> new org.apache.kafka.clients.consumer.RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException(name);
        };
    }

    @SuppressWarnings("removal")
    private ConsumerPartitionAssignor.Subscription subscription(Member member) {
        ConsumerPartitionAssignor writer = clientAssignor();
        boolean isSticky = name.equals("sticky");
        if (member.generation >= 0) {
            writer.onAssignment(
                new ConsumerPartitionAssignor.Assignment(member.held),
                new ConsumerGroupMetadata("group", member.generation, member.id, Optional.empty())
            );
        }
        return new ConsumerPartitionAssignor.Subscription(
            member.topics,
            writer.subscriptionUserData(new TreeSet<>(member.topics)),
            isSticky ? List.of() : member.held,
            member.generation,
            Optional.empty()
        );
    }

    private Work server() {
        Map<String, MemberSubscriptionAndAssignmentImpl> specs = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        Map<String, Uuid> ids = new HashMap<>();
        Map<Uuid, Integer> counts = new HashMap<>();
        topics.forEach((topic, count) -> {
            ids.put(topic, Uuid.fromString(topic));
            counts.put(ids.get(topic), count);
        });
        Map<List<String>, Set<Uuid>> wanted = new HashMap<>();
        for (Member member : members) {
            Map<Uuid, List<Integer>> listed = new LinkedHashMap<>();
            for (TopicPartition held : member.held) {
                listed.computeIfAbsent(ids.get(held.topic()), key -> new ArrayList<>()).add(held.partition());
                inverted.computeIfAbsent(ids.get(held.topic()), key -> new HashMap<>()).put(held.partition(), member.id);
            }
            Map<Uuid, Set<Integer>> parts = new HashMap<>();
            listed.forEach((topic, partitions) -> parts.put(topic, new HashSet<>(partitions)));
            Set<Uuid> subscribed = wanted.computeIfAbsent(member.topics, list -> {
                Set<Uuid> set = new HashSet<>();
                list.forEach(topic -> set.add(ids.get(topic)));
                return set;
            });
            specs.put(member.id, new MemberSubscriptionAndAssignmentImpl(
                Optional.empty(), Optional.empty(), subscribed, new Assignment(Collections.unmodifiableMap(parts))
            ));
        }
        SubscriptionType type = new HashSet<>(wanted.values()).size() == 1
            ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        GroupSpecImpl spec = new GroupSpecImpl(specs, type, inverted);
        SubscribedTopicDescriber describer = new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid topicId) {
                return counts.getOrDefault(topicId, -1);
            }

            @Override
            public Set<String> racksForPartition(Uuid topicId, int partition) {
                return Set.of();
            }
        };
        ConsumerGroupPartitionAssignor assignor = switch (name) {
            case "uniform" -> new UniformAssignor();
            case "range" -> new org.apache.kafka.coordinator.group.assignor.RangeAssignor();
            default -> throw new IllegalArgumentException(name);
        };
        return () -> {
            GroupAssignment made = assignor.assign(spec, describer);
            return () -> {
                Map<String, Collection<TopicPartition>> lists = new HashMap<>();
                for (Map.Entry<String, MemberAssignment> entry : made.members().entrySet()) {
                    List<TopicPartition> list = new ArrayList<>();
                    entry.getValue().partitions().forEach((topic, partitions) ->
                        partitions.forEach(partition -> list.add(new TopicPartition(topic.toString(), partition))));
                    lists.put(entry.getKey(), list);
                }
                return lists;
            };
        };
    }

    private int save(Path path) throws IOException {
        try (PrintWriter writer = new PrintWriter(Files.newBufferedWriter(path))) {
            for (Member member : members) {
                StringBuilder line = new StringBuilder(member.id);
                for (TopicPartition given : answer.getOrDefault(member.id, List.of())) {
                    line.append('\t').append(given.topic()).append(' ').append(given.partition());
                }
                writer.println(line);
            }
        }
        return answer.size();
    }
}
