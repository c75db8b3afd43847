import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.MetadataUpdateParser;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.SortOrderParser;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.UpdateRequirementParser;
import org.apache.iceberg.view.ViewMetadata;
import org.apache.iceberg.view.ViewMetadataParser;

/**
 * Answers what Iceberg's own library makes of a commit.
 *
 * <p>Reads one JSON object a line: {"kind": "table", "base", "requirements", "updates", "previous"}, the same with
 * "view", {"kind": "create", "request", "location", "format-version"}, or {"kind": "read-table" or "read-view", "base"}.
 * Writes one line each: {"metadata"} or {"error"}.
 */
public final class Oracle {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Oracle() {}

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      ObjectNode answer = JSON.createObjectNode();
      try {
        answer.set("metadata", JSON.readTree(answer(JSON.readTree(line))));
      } catch (RuntimeException refusal) {
        answer.put("error", refusal.getClass().getSimpleName() + ": " + refusal.getMessage());
      }
      out.println(JSON.writeValueAsString(answer));
    }
  }

  private static String answer(JsonNode question) {
    switch (question.get("kind").asText()) {
      case "table":
        return table(question);
      case "view":
        return view(question);
      case "read-table":
        return TableMetadataParser.toJson(TableMetadataParser.fromJson(question.get("base")));
      case "read-view":
        return ViewMetadataParser.toJson(ViewMetadataParser.fromJson(question.get("base")));
      default:
        return create(question);
    }
  }

  private static String table(JsonNode question) {
    String previous = question.hasNonNull("previous") ? question.get("previous").asText() : null;
    TableMetadata base = TableMetadataParser.fromJson(previous, question.get("base"));
    for (JsonNode requirement : question.get("requirements")) {
      UpdateRequirementParser.fromJson(requirement).validate(base);
    }
    TableMetadata.Builder builder = TableMetadata.buildFrom(base);
    for (JsonNode update : question.get("updates")) {
      MetadataUpdateParser.fromJson(update).applyTo(builder);
    }
    return TableMetadataParser.toJson(builder.build());
  }

  private static String view(JsonNode question) {
    ViewMetadata base = ViewMetadataParser.fromJson(question.get("base"));
    for (JsonNode requirement : question.get("requirements")) {
      UpdateRequirementParser.fromJson(requirement).validate(base);
    }
    ViewMetadata.Builder builder = ViewMetadata.buildFrom(base);
    for (JsonNode update : question.get("updates")) {
      MetadataUpdateParser.fromJson(update).applyTo(builder);
    }
    return ViewMetadataParser.toJson(builder.build());
  }

  private static String create(JsonNode question) {
    JsonNode request = question.get("request");
    Schema schema = SchemaParser.fromJson(request.get("schema"));
    PartitionSpec spec =
        request.hasNonNull("partition-spec")
            ? PartitionSpecParser.fromJson(schema, request.get("partition-spec"))
            : PartitionSpec.unpartitioned();
    SortOrder order =
        request.hasNonNull("write-order")
            ? SortOrderParser.fromJson(schema, request.get("write-order"))
            : SortOrder.unsorted();
    Map<String, String> properties = new HashMap<>();
    request.path("properties").fields().forEachRemaining(entry -> properties.put(entry.getKey(), entry.getValue().asText()));
    properties.put("format-version", question.get("format-version").asText());
    return TableMetadataParser.toJson(
        TableMetadata.newTableMetadata(schema, spec, order, question.get("location").asText(), properties));
  }
}
