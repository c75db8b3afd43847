import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs the kit against each warehouse that a line of standard input names, {"run", "properties", "locations"}, and prints one line
 * a test: {"run", "test", "outcome", "said"}, where the outcome is passed, failed or skipped.
 */
public final class Kit {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Kit() {}

  public static void main(String[] ignored) throws Exception {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Tables.class), selectClass(Views.class)).build();
    for (JsonNode asked : JSON.readerFor(JsonNode.class).<JsonNode>readValues(System.in).readAll()) {
      Map<String, String> properties = new LinkedHashMap<>();
      asked.get("properties").properties().forEach(entry -> properties.put(entry.getKey(), entry.getValue().asText()));
      Warehouse.choose(properties, asked.get("locations").asText());
      LauncherFactory.create().execute(request, new Told(asked.get("run").asText()));
    }
    System.exit(0); // clients of the kit's own leave threads behind
  }

  /** Prints what became of each test. */
  private static final class Told implements TestExecutionListener {
    private final String run;

    Told(String run) {
      this.run = run;
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
      tell(test, "skipped", reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      String said = result.getThrowable().map(Throwable::toString).orElse("");
      switch (result.getStatus()) {
        case SUCCESSFUL -> {
          if (test.isTest()) {
            tell(test, "passed", said);
          }
        }
        case FAILED -> tell(test, "failed", said); // a class that can't be set up fails too
        case ABORTED -> tell(test, "skipped", said);
      }
    }

    private void tell(TestIdentifier test, String outcome, String said) {
      Map<String, String> line = new LinkedHashMap<>();
      line.put("run", run);
      line.put("test", name(test));
      line.put("outcome", outcome);
      line.put("said", said);
      try {
        System.out.println(JSON.writeValueAsString(line));
      } catch (com.fasterxml.jackson.core.JsonProcessingException impossible) {
        throw new IllegalStateException(impossible);
      }
    }

    /** As Tables.testName, with its display name where a test is run with several arguments. */
    private static String name(TestIdentifier test) {
      String shown =
          test.getSource()
              .filter(MethodSource.class::isInstance)
              .map(MethodSource.class::cast)
              .map(source -> source.getClassName() + "." + source.getMethodName())
              .orElse(test.getLegacyReportingName());
      boolean once = test.getLegacyReportingName().endsWith(")");
      return once ? shown : shown + " " + test.getDisplayName();
    }
  }
}
